/** Which test runs the blocks of a language in a document: all of them, as they stand there. */
export const RUN_BY: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "README.md": {
    sh: "test/ship/commands.test.ts",
    // The answer of the request; the policy file is that of test/ship/commands.test.ts.
    json: "test/docs/guide.test.ts",
    python: "test/docs/first_request.test.ts",
    ts: "test/docs/first_request.test.ts",
  },
  "docs/install.md": { sh: "test/ship/commands.test.ts", ts: "test/ship/package.test.ts" },
  "CONTRIBUTING.md": { sh: "test/ship/commands.test.ts" },
  "docs/guide.md": {
    // The two headers that each request is sent with.
    "": "test/docs/guide.test.ts",
    http: "test/docs/guide.test.ts",
    sh: "test/ship/commands.test.ts",
  },
  "docs/errors.md": { http: "test/docs/guide.test.ts" },
  "docs/typescript.md": {
    sh: "test/ship/commands.test.ts",
    ts: "test/docs/typescript.test.ts",
    // What the programs print.
    text: "test/docs/typescript.test.ts",
  },
  "docs/operators.md": {
    sh: "test/ship/commands.test.ts",
    sql: "test/ship/commands.test.ts",
    json: "test/docs/operators.test.ts",
    yaml: "test/docs/operations.test.ts",
  },
  "docs/recipes.md": { http: "test/docs/guide.test.ts", js: "test/docs/recipes.test.ts" },
};

/** Commands of the documents that no test runs, and why. */
export const HELD_BACK: Readonly<Record<string, string>> = {
  "npx -y deno task test": "it is what runs the tests",
  "npx -y deno task ok": "it is what runs the tests",
  "npx -y deno task test:unit": "it is what runs the tests",
  "deno task test test/unit": "it is what runs the tests",
  'deno task test test/conformance --filter "[U20]"': "it is what runs the tests",
  "deno task test test/conformance --runtime=node": "it is what runs the tests",
  "deno task test --access=rls": "it is what runs the tests",
  "deno task test --access=least test/conformance/updates": "it is what runs the tests",
  "ROWGATE_TEST_SEED=42 ROWGATE_TEST_RUNS=5000 deno task test test/property":
    "it is what runs the tests",
  "deno task attack --runs=10000 --seed=42": "the long form of test/property: hours",
  "deno run -A scripts/bench/worst_bodies.ts --runtime=node":
    "a measurement; test/support/worst_bodies.ts holds its bodies, and tests send them",
  "npm ci && npm ci --prefix test/packages": "fetches what lies here when the tests run",
  "npm install ./rowgate-*.tgz": "test/ship/package.test.ts installs it in an empty folder",
  "docker build -t rowgate .":
    "needs a container engine; test/ship/image.test.ts runs the commands of each stage",
  "docker run --rm --read-only -v rowgate:/data -p 127.0.0.1:8080:8080 rowgate":
    "needs a container engine; test/ship/binary.test.ts starts the binary alone",
};
