/** The test that runs all blocks of a language in a document, as they are written there. */
export const RUN_BY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": {
    sh: "test/ship/commands.test.ts",
    json: "test/docs/requests.test.ts",
  },
  "docs/install.md": { sh: "test/ship/commands.test.ts", ts: "test/ship/package.test.ts" },
  "CONTRIBUTING.md": { sh: "test/ship/commands.test.ts" },
  "docs/guide.md": {
    // The two headers of each request.
    "": "test/docs/requests.test.ts",
    http: "test/docs/requests.test.ts",
    sh: "test/ship/commands.test.ts",
    bash: "test/docs/languages.test.ts",
    python: "test/docs/languages.test.ts",
    ts: "test/docs/languages.test.ts",
  },
  "docs/export.md": {
    sh: "test/docs/export.test.ts",
    python: "test/docs/export.test.ts",
    ts: "test/docs/export.test.ts",
  },
  "docs/updates.md": {
    http: "test/docs/requests.test.ts",
    bash: "test/docs/languages.test.ts",
    python: "test/docs/languages.test.ts",
    ts: "test/docs/languages.test.ts",
  },
  "docs/upserts.md": { http: "test/docs/requests.test.ts" },
  "docs/deletes.md": { http: "test/docs/requests.test.ts" },
  "docs/sync.md": { http: "test/docs/requests.test.ts" },
  "docs/errors.md": { http: "test/docs/requests.test.ts" },
  "docs/typescript.md": {
    sh: "test/ship/commands.test.ts",
    ts: "test/docs/typescript.test.ts",
    // The output of the programs.
    text: "test/docs/typescript.test.ts",
  },
  "docs/operators.md": {
    sh: "test/ship/commands.test.ts",
    sql: "test/ship/commands.test.ts",
    json: "test/docs/operators.test.ts",
    yaml: "test/docs/operations.test.ts",
    nginx: "test/runtime/nginx.test.ts",
  },
  "docs/operations/citus.md": {
    sql: "test/docs/citus.test.ts",
    sh: "test/docs/citus.test.ts",
  },
  "docs/recipes.md": {
    http: "test/docs/requests.test.ts",
    js: "test/docs/recipes.test.ts",
    python: "test/docs/copy.test.ts",
    sh: "test/docs/agents.test.ts",
    json: "test/docs/agents.test.ts",
  },
};

/** The commands of the documents that no test runs, each with the reason. */
export const HELD_BACK: Readonly<Record<string, string>> = {
  "npx -y deno task test": "runs the tests",
  "npx -y deno task ok": "runs the tests",
  "npx -y deno task test:unit": "runs the tests",
  "deno task test test/unit": "runs the tests",
  'deno task test test/conformance --filter "[U20]"': "runs the tests",
  "deno task test test/conformance --runtime=node": "runs the tests",
  "deno task test --access=rls": "runs the tests",
  "deno task test --postgres=14,18": "runs the tests",
  "deno task test --access=least test/conformance/updates": "runs the tests",
  "ROWGATE_TEST_SEED=42 ROWGATE_TEST_RUNS=5000 deno task test test/property": "runs the tests",
  "deno task attack --runs=10000 --seed=42": "the long form of test/property, takes hours",
  "deno task bench:neighbours":
    "a benchmark; test/integration/load/neighbours.test.ts has the rules",
  "curl -sN 'https://rows.example.com/integration/tables/orders/changes?since=now' -H 'Authorization: Bearer rg_…' -H 'Accept: text/event-stream'":
    "a stream that does not end; test/integration/changes/stream.test.ts follows one",
  "DATABASE_URL=postgres://rowgate_app:…@a,b/shop DATABASE_READ_URL=postgres://rowgate_app:…@b,c/shop rowgate serve":
    "needs a primary and two standbys; test/integration/replicas has them",
  "npm ci && npm ci --prefix test/packages": "installs what the tests already have",
  "npm install ./rowgate-*.tgz":
    "test/ship/package.test.ts installs the package in an empty folder",
  "docker build -t rowgate .":
    "needs a container engine; test/ship/image.test.ts runs the commands of each stage",
  "docker run --rm --read-only -v rowgate:/data -p 127.0.0.1:8080:8080 rowgate":
    "needs a container engine; test/ship/binary.test.ts starts the binary alone",
};
