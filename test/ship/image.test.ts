import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { cp, mkdir, mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import packages from "../packages/package.json" with { type: "json" };
import { awaitAddress } from "../runtime/run_process.ts";
import { createTestDatabase, type TestDatabase } from "../support/database.ts";
import { COMMANDS } from "../support/runtime_server.ts";
import { readDockerfile, type Stage } from "./read_dockerfile.ts";
import { startIn } from "./start_in.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const read = (path: string) => readFile(join(ROOT, path), "utf8");

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-image-"));
});
after(() => rm(folder, { recursive: true, force: true }));

describe("the Dockerfile", () => {
  let build: Stage;
  let image: Stage;

  before(async () => {
    const [first, last, ...more] = readDockerfile(await read("Dockerfile"));
    assertEquals(more, []);
    [build, image] = [first!, last!];
  });

  const textOf = (stage: Stage, name: string) =>
    stage.instructions.filter((one) => one.name === name).map(({ text }) => text);

  it("builds with the Bun that the tests have, on bases with exact tags", () => {
    assertEquals(build.base, `oven/bun:${packages.devDependencies.bun}-slim`);
    assertEquals(image.base, "gcr.io/distroless/cc-debian12:nonroot");
  });

  it("makes an image that does not run as root, with one volume, a health check and labels", () => {
    assertEquals(textOf(image, "USER"), ["65532:65532"]);
    assertEquals(textOf(image, "VOLUME"), ['["/data"]']);
    assertMatch(textOf(image, "ENV").join(), /HOST=0\.0\.0\.0 .*ROWGATE_DATA_DIR=\/data/);
    assertMatch(
      textOf(image, "HEALTHCHECK").join(),
      /CMD \["\/usr\/local\/bin\/rowgate", "health"\]$/,
    );
    assertEquals(textOf(image, "ENTRYPOINT"), ['["/usr/local/bin/rowgate"]']);
    assertEquals(textOf(image, "CMD"), ['["serve"]']);
    assert(textOf(image, "ARG").includes(`VERSION=${manifest.version}`));
    const labels = textOf(image, "LABEL").join();
    for (const name of ["title", "description", "licenses", "version", "revision"]) {
      assertMatch(labels, new RegExp(`org\\.opencontainers\\.image\\.${name}="[^"]+"`));
    }
    // The base has no shell that could run anything.
    assertEquals(textOf(image, "RUN"), []);
    assertEquals([...textOf(build, "ADD"), ...textOf(image, "ADD")], []);
  });

  it("builds the binary from the files that .dockerignore allows", async () => {
    const allowed = (await read(".dockerignore")).split("\n").filter((line) => line[0] === "!");
    const context = join(folder, "context");
    for (const path of allowed.map((line) => line.slice(1))) {
      await mkdir(dirname(join(context, path)), { recursive: true });
      await cp(join(ROOT, path), join(context, path), { recursive: true });
    }
    const work = join(folder, "build");
    await mkdir(work);
    for (const { name, text } of build.instructions) {
      if (name === "COPY") {
        const [target = "", ...sources] = text.split(" ").reverse();
        for (const source of sources) {
          const isFolder = (await stat(join(context, source))).isDirectory();
          const to = isFolder ? target : join(target, source.split("/").at(-1)!);
          await cp(join(context, source), join(work, to), { recursive: true });
        }
      } else if (name === "RUN") {
        // As in the base, "bun" is the first on the path.
        const path = `${dirname(COMMANDS.bun[0]!)}:${process.env.PATH}`;
        const command = text.replaceAll("/empty", join(folder, "empty"));
        const { ended, output } = startIn(work, ["sh", "-c", command], { PATH: path });
        assertEquals(await ended, 0, `${command}: ${output().stdout}${output().stderr}`);
      } else assertEquals(name, "WORKDIR");
    }
    for (const [, from] of textOf(image, "COPY").join("\n").matchAll(/\s\/(build\S*|empty\S*)/g)) {
      assert(await stat(join(folder, from!)).then(() => true, () => false), from);
    }
    const { ended, output } = startIn(folder, ["build/dist/rowgate", "--version"]);
    assertEquals([await ended, output().stdout], [0, `${manifest.version}\n`]);
  });
});

describe("compose.yaml", () => {
  let text: string;
  let test: TestDatabase;
  const role = `compose_${crypto.randomUUID().slice(0, 8)}`;

  before(async () => {
    text = await read("compose.yaml");
    test = await createTestDatabase("real", "empty");
  });
  after(async () => {
    await test.admin.unsafe(`drop owned by ${role}; drop role ${role}`);
    await test.drop();
  });

  it("names existing files, this version, and bases with exact tags", async () => {
    for (const [, path] of text.matchAll(/- (\.\/\S+?):/g)) await read(path!);
    const images = [...text.matchAll(/image: (\S+)/g)].map(([, name]) => name);
    const expected = [`rowgate:${manifest.version}`, "postgres:17.6-bookworm"];
    assertEquals([...new Set(images)].sort(), expected.sort());
  });

  it("serves as a role with no more rights than its example says", async () => {
    const { admin } = test;
    const run = async (file: string) => {
      const sql = (await read(`examples/compose/${file}`)).replaceAll("rowgate_app", role);
      await admin.unsafe(sql.replace(/^\\getenv.*\n/m, "").replace(":'password'", "'x'"));
    };
    await run("1_tables.sql");
    await run("2_role.sql");
    const call = (command: string, DATABASE_URL: string, more = {}) =>
      startIn(ROOT, ["dist/rowgate", ...command.split(" ")], { DATABASE_URL, ...more });
    const setup = call("setup", test.url!);
    assertEquals(await setup.ended, 0, setup.output().stderr);
    await run("3_tokens.sql");
    const minting = call("token create --tenant acme", test.url!);
    assertEquals(await minting.ended, 0, minting.output().stderr);
    const token = minting.output().stdout.trim();

    const url = new URL(test.url!);
    [url.username, url.password] = [role, "x"];
    const ROWGATE_POLICY = "examples/compose/policy.json";
    const doctor = call("doctor --json", url.href, { ROWGATE_POLICY });
    await doctor.ended;
    const { checks } = JSON.parse(doctor.output().stdout) as {
      readonly checks: readonly { readonly findings: readonly { readonly what: string }[] }[];
    };
    // The tests' own server trades durability for speed.
    const found = checks.flatMap(({ findings }) => findings.map(({ what }) => what));
    assertEquals(found, ["synchronous_commit or fsync is off"]);
    const server = call("serve", url.href, { PORT: "0", ROWGATE_POLICY });
    const address = await awaitAddress(server);
    const ask = async (path: string, method: string, body: unknown) => {
      const response = await fetch(`${address}/integration/tables/${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify(body),
      });
      return { status: response.status, ...await response.json() };
    };
    const page = await ask("orders/query", "POST", { per_page: 1 });
    assertEquals([page.status, page.total], [200, 20]);
    assertEquals("internal_rating" in page.records[0], false);
    assertEquals((await ask("countries/query", "POST", {})).total, 2);
    const change = (fields: unknown) =>
      ask("orders/records/single", "PATCH", { filters: { id: 1 }, fields });
    assertEquals((await change({ status: "paid" })).status, 200);
    assertEquals((await change({ total: 1 })).status, 400);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
    const warnings = server.output().stdout.split("\n").filter((line) =>
      line.includes('"warning"')
    );
    assertEquals(warnings, []);
    const [rights] = await admin`select has_table_privilege(${role}, 'rowgate.tokens', 'insert') t,
      has_table_privilege(${role}, 'rowgate.audit', 'select') a`;
    assertEquals([rights?.t, rights?.a], [false, false]);
  });
});
