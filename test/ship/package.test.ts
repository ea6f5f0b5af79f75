import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import { readDocument, readTexts } from "../docs/blocks.ts";
import { awaitAddress, awaitOutput, type RunningProcess } from "../runtime/run_process.ts";
import {
  createServingDatabase,
  type ServingDatabase,
  updateDeal,
} from "../runtime/serving_database.ts";
import { COMMANDS } from "../support/runtime_server.ts";
import { findPort } from "../support/find_port.ts";
import { assertConsole } from "./assert_console.ts";
import { type InstalledPackage, installPackage, run } from "./install_package.ts";
import { startIn } from "./start_in.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const BUN = COMMANDS.bun[0]!;
const LEAST = ["--allow-net", "--allow-env"];
const EXAMPLES = {
  "deno.ts": [process.execPath, "run", "--no-prompt", ...LEAST, "examples/deno.ts"],
  "bun.ts": [BUN, "examples/bun.ts"],
  "node.mjs": ["node", "examples/node.mjs"],
  "worker.mjs by Deno": [
    process.execPath,
    "serve",
    ...LEAST,
    "--port",
    "$PORT",
    "examples/worker.mjs",
  ],
  "worker.mjs by Bun": [BUN, "examples/worker.mjs"],
};

describe("the package, installed in an empty folder", () => {
  let installed: InstalledPackage;
  let database: ServingDatabase;

  before(async () => {
    [installed, database] = await Promise.all([installPackage(), createServingDatabase()]);
  });
  after(async () => {
    await database.drop();
    await installed.remove();
  });

  it("contains what is shipped and nothing of the tests", () => {
    const { files } = installed;
    for (const file of ["rowgate.js", "rowgate.js.map", "mod.js", "types/mod.d.ts", "client.js"]) {
      assert(files.includes(`dist/${file}`), `${file} is not in ${files.join(" ")}`);
    }
    const foreign = files.filter((file) =>
      /^(test|scripts|node_modules)\/|^dist\/rowgate$/.test(file)
    );
    assertEquals(foreign, []);
  });

  it('provides "npx rowgate", which prints its version, serves, and has the console [H16]', async () => {
    const { folder } = installed;
    const version = await run("npx", ["--no-install", "rowgate", "--version"], folder);
    assertEquals(version, `${manifest.version}\n`);
    const server = startIn(folder, ["node_modules/.bin/rowgate", "serve"], {
      DATABASE_URL: database.servingUrl,
      PORT: "0",
    });
    const address = await awaitAddress(server);
    const { token } = database;
    const response = await updateDeal(address, { token, fid: 1, note: "npx" });
    assertEquals(response.status, 200, response.text);
    await assertConsole(address);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
  });

  for (const [name, command] of Object.entries(EXAMPLES)) {
    it(`can be mounted in another server: examples/${name}`, async () => {
      const PORT = String(await findPort());
      const words = command.map((word) => word === "$PORT" ? PORT : word);
      const server = startIn(installed.folder, words, { DATABASE_URL: database.servingUrl, PORT });
      const address = `http://127.0.0.1:${PORT}`;
      assertEquals(await awaitPage(server, address), "a page of your own\n");
      const { token } = database;
      const response = await updateDeal(address, { token, fid: 1, note: "mounted" });
      assertEquals(response.status, 200, response.text);
      const rejected = await fetch(`${address}/integration/tables`);
      assertEquals(rejected.status, 401);
      await rejected.body?.cancel();
      // The service writes its own log, a line for each request.
      await awaitOutput(server, /"operation":"list_tables","status":401|"status":401/, "stdout");
      // A served module cannot end itself: "deno serve" waits for it.
      const isModule = name.startsWith("worker");
      server.send(isModule ? "SIGKILL" : "SIGTERM");
      const code = await server.ended;
      if (!isModule) assertEquals(code, 0, server.output().stderr);
    });
  }

  it("handles requests in a program as docs/install.md shows", async () => {
    const [shown = "", ...others] = readTexts(await readDocument("docs/install.md"), "ts");
    assertEquals(others, []);
    const { servingUrl, token } = database;
    const program = `const request = new Request("http://localhost/integration/tables", {
  headers: { authorization: "Bearer ${token}" },
});
${shown}
console.log(response.status);
await close();`;
    const { ended, output } = startIn(
      installed.folder,
      ["node", "--input-type=module", "-e", program],
      { DATABASE_URL: servingUrl, ROWGATE_LOG_LEVEL: "silent" },
    );
    assertEquals([await ended, output().stdout], [0, "200\n"], output().stderr);
  });

  it("reports invalid settings", async () => {
    const program = `import { openService } from "rowgate";
await openService({ environment: { ROWGATE_POOL_SIZE: "0" }, policy: { tabels: {} } });`;
    const error = await assertRejects(
      () => run("node", ["--input-type=module", "-e", program], installed.folder),
      Error,
    );
    assertMatch(error.message, /ROWGATE_POOL_SIZE[^]*tabels/);
  });

  it("has types that pass in a strict project", async () => {
    const { folder } = installed;
    const compilerOptions = {
      target: "es2022",
      module: "nodenext",
      lib: ["es2022", "dom", "dom.iterable"],
      strict: true,
      // Half of the time would go to the declarations of TypeScript itself.
      skipDefaultLibCheck: true,
      noEmit: true,
      types: ["node"],
      typeRoots: [join(ROOT, "node_modules/@types")],
    };
    await writeFile(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions, files: ["typed.mts"] }),
    );
    await writeFile(
      join(folder, "typed.mts"),
      `import { type App, createApp, openService } from "rowgate";
import { createClient } from "rowgate/client";
const client = createClient({ url: "http://localhost", token: "" });
// @ts-expect-error an address is needed
createClient({ token: "" });
console.log(client.updateBulk);
const { app, tokens, close } = await openService({ environment: process.env, policy: {} });
const handler: App = app;
const response: Response = await handler(new Request("http://localhost/livez"), { peer: "::1" });
const names: string[] = tokens.map(({ tenant }) => tenant);
await close(1000);
console.log(response.status, names);
// @ts-expect-error a request is no text
await handler("/livez");
// @ts-expect-error it has dependencies
createApp({});
`,
    );
    const compiler = join(ROOT, "test/packages/node_modules/typescript/bin/tsc");
    assertEquals(await run("node", [compiler, "-p", "."], folder), "");
  });
});

async function awaitPage(server: RunningProcess, address: string): Promise<string> {
  const ended = server.ended.then(() => {
    throw new Error(`it ended: ${server.output().stderr}`);
  });
  while (true) {
    const page = await fetch(address).then((response) => response.text(), () => undefined);
    if (page !== undefined) return page;
    await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 50))]);
  }
}
