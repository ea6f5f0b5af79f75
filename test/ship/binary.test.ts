import {
  assert,
  assertEquals,
  assertMatch,
  assertNotMatch,
  assertStringIncludes,
} from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { BINARY } from "../../scripts/permissions.ts";
import { planCompile } from "../../scripts/plan_compile.ts";
import { awaitAddress, awaitText, startProcess } from "../runtime/run_process.ts";
import {
  createServingDatabase,
  type ServingDatabase,
  updateDeal,
} from "../runtime/serving_database.ts";
import { findPort } from "../support/find_port.ts";
import { assertConsole } from "./assert_console.ts";
import { startIn } from "./start_in.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BANNER_END = /Rowgate serves at [\s\S]*\n\n$/;
const ORDERS = "/integration/tables/orders/query";

let folder: string;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), "rowgate-binary-"));
});
after(() => rm(folder, { recursive: true, force: true }));

async function countOrders(address: string, token: string): Promise<number> {
  const response = await fetch(address + ORDERS, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ per_page: 1 }),
  });
  assertEquals(response.status, 200);
  return (await response.json()).total;
}

describe("the binary, alone in an empty folder", () => {
  // Another process copies it: what this one starts meanwhile would inherit the open file, and a file
  // that is open for writing cannot be executed.
  before(() => promisify(execFile)("cp", [join(ROOT, "dist/rowgate"), join(folder, "rowgate")]));

  it("serves the embedded Postgres and the console, creates tokens, reports its health, ends on SIGTERM [R2] [R3] [R40] [MC20]", async () => {
    const PORT = String(await findPort());
    const first = startIn(folder, ["./rowgate", "serve"], { PORT });
    const banner = await awaitText(first, BANNER_END);
    assertMatch(banner, /^claude mcp add -t http rowgate http:\/\/127\.0\.0\.1:\d+\/mcp /m);
    const [token] = /rg_\w+/.exec(banner)!;
    const orders = await countOrders(`http://127.0.0.1:${PORT}`, token);
    assert(orders > 100);
    await assertConsole(`http://127.0.0.1:${PORT}`);
    const health = startIn(folder, ["./rowgate", "health"], { HOST: "0.0.0.0", PORT });
    assertEquals(await health.ended, 0, health.output().stderr);
    first.send("SIGTERM");
    assertEquals(await first.ended, 0);
    assertNotMatch(first.output().stderr, /fail|error/i);

    const unavailable = startIn(folder, ["./rowgate", "health"], { PORT });
    assertEquals(await unavailable.ended, 1);
    assertMatch(
      unavailable.output().stderr,
      /^rowgate: http:\/\/127\.0\.0\.1:\d+\/readyz does not answer\n$/,
    );

    const words = ["./rowgate", "token", "create", "--tenant", "acme"];
    const minting = startIn(folder, words);
    assertEquals(await minting.ended, 0, minting.output().stderr);
    const minted = minting.output().stdout.trim();
    const second = startIn(folder, ["./rowgate", "serve"], { PORT: "0" });
    const address = await awaitAddress(second);
    assertEquals(await countOrders(address, minted), orders);
    second.send("SIGTERM");
    assertEquals(await second.ended, 0);
  });

  it("reads no settings from a .env, bunfig.toml or package.json in its folder", async () => {
    await writeFile(join(folder, ".env"), "ROWGATE_NONSENSE=1\nPORT=none\n");
    await writeFile(join(folder, "bunfig.toml"), 'preload = ["./intruder.js"]\n');
    await writeFile(join(folder, "intruder.js"), 'console.log("intruder");\n');
    await writeFile(join(folder, "package.json"), "{");
    const { ended, output } = startIn(folder, ["./rowgate", "setup", "--print"]);
    assertEquals(await ended, 0, output().stderr);
    assertStringIncludes(output().stdout, "create schema");
    assertNotMatch(output().stdout, /intruder/);
  });
});

describe("the binary of deno compile", () => {
  let database: ServingDatabase;

  before(async () => {
    database = await createServingDatabase();
  });
  after(() => database.drop());

  // Its runtime may not be available where the tests run, so any other program stands in for it.
  it("embeds the bundle and the files of PGlite", async () => {
    const output = join(folder, "compiled");
    const runtime = { DENORT_BIN: "/bin/true" };
    const { ended, output: printed } = startProcess(process.execPath, planCompile(output), runtime);
    assertEquals(await ended, 0, printed().stderr);
    const compiled = await readFile(output);
    const pglite = join(ROOT, "node_modules/@electric-sql/pglite/dist");
    const files = ["pglite.wasm", "initdb.wasm", "pglite.data", "citext.tar.gz", "index.js"];
    for (const path of [...files.map((file) => join(pglite, file)), `${ROOT}dist/rowgate.js`]) {
      assert(compiled.includes(await readFile(path)), `${path} is not embedded`);
    }
  });

  it("serves both databases with the permissions that are compiled in [CF17]", async () => {
    const bundle = [process.execPath, "run", ...BINARY, `${ROOT}dist/rowgate.js`];
    const words = [...bundle, "serve"];
    const ROWGATE_DATA_DIR = join(folder, "permitted");
    const embedded = startProcess(words[0]!, words.slice(1), { PORT: "0", ROWGATE_DATA_DIR });
    const banner = await awaitText(embedded, BANNER_END);
    const address = await awaitAddress(embedded);
    assert(await countOrders(address, /rg_\w+/.exec(banner)![0]) > 100);
    embedded.send("SIGTERM");
    assertEquals(await embedded.ended, 0);

    const settings = { PORT: "0", DATABASE_URL: database.servingUrl };
    const real = startProcess(words[0]!, words.slice(1), settings);
    const { token } = database;
    const response = await updateDeal(await awaitAddress(real), {
      token,
      fid: 1,
      note: "compiled",
    });
    assertEquals(response.status, 200, response.text);
    real.send("SIGTERM");
    assertEquals(await real.ended, 0);
  });
});
