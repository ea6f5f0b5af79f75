import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FaultProxy, startFaultProxy } from "../support/fault_proxy.ts";
import { COMMANDS, RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, type RunningProcess, startCommand, startProcess } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase } from "./serving_database.ts";

const NOWHERE = "nowhere.invalid";
const LATE_NAME = new URL("./late_name.js", import.meta.url).href;
/** A response while the database is unavailable, and the first one once it is there. */
const SOON_MS = 2000;

describe("a database that is unavailable at the start", () => {
  let database: ServingDatabase;
  let proxy: FaultProxy;
  let folder: string;

  before(async () => {
    database = await createServingDatabase();
    proxy = await startFaultProxy(database.servingUrl);
    folder = await mkdtemp(join(tmpdir(), "rowgate-unavailable-"));
  });
  after(async () => {
    await database?.drop();
    await proxy?.stop();
    await rm(folder, { recursive: true, force: true });
  });

  for (const runtime of RUNTIMES) {
    it(`is reported at once and waited for on ${runtime} [DB1]`, async () => {
      await proxy.set({ kind: "refuse" });
      const DATABASE_URL = proxy.through(database.servingUrl);
      const server = startCommand(runtime, ["serve"], { DATABASE_URL, PORT: "0" });
      const come = () => proxy.set({ kind: "pass" });
      await proveWaiting(server, { code: /ECONNREFUSED/, come });
    });

    it(`is reported at once when its name does not resolve on ${runtime} [DB23]`, async () => {
      await proxy.set({ kind: "refuse" });
      const url = proxy.through(database.servingUrl).replace("@", `@${NOWHERE}:5432,`);
      const server = startCommand(runtime, ["serve"], { DATABASE_URL: url, PORT: "0" });
      const come = () => proxy.set({ kind: "pass" });
      await proveWaiting(server, { code: /ECONNREFUSED/, come });
      const alone = proxy.through(database.servingUrl).replace("127.0.0.1", NOWHERE);
      const waiting = startCommand(runtime, ["serve"], { DATABASE_URL: alone, PORT: "0" });
      await proveWaiting(waiting, { code: /ENOTFOUND|EAI_AGAIN/ });
    });
  }

  it("is found once its name resolves [DB23]", async () => {
    await proxy.set({ kind: "pass" });
    const file = join(folder, "resolves");
    const [program = "", ...parameters] = COMMANDS.node;
    const server = startProcess(program, ["--import", LATE_NAME, ...parameters, "serve"], {
      DATABASE_URL: proxy.through(database.servingUrl).replace("127.0.0.1", "db.late.invalid"),
      LATE_NAME: file,
      PORT: "0",
    });
    const come = () => writeFile(file, "");
    await proveWaiting(server, { code: /ENOTFOUND|EAI_AGAIN/, come });
  });

  /** Holds a server to what it owes while there is no database, and once it has come. */
  async function proveWaiting(
    server: RunningProcess,
    { code, come }: { readonly code: RegExp; readonly come?: () => Promise<void> },
  ): Promise<void> {
    const address = await awaitAddress(server);
    const ask = (path: string) =>
      fetch(`${address}${path}`, { headers: { authorization: `Bearer ${database.token}` } });
    const askedMs = performance.now();
    for (const [path, status] of [["/livez", 200], ["/readyz", 503]] as const) {
      const response = await ask(path);
      assertEquals(response.status, status, await response.text());
    }
    const responses = await Promise.all(
      Array.from({ length: 10 }, () => ask("/integration/tables")),
    );
    for (const response of responses) {
      const body = await response.json();
      assertEquals([response.status, response.headers.get("retry-after")], [503, "1"]);
      assertEquals(body.success, false);
    }
    const tookMs = performance.now() - askedMs;
    assert(tookMs < SOON_MS, `took ${tookMs} ms`);
    if (come !== undefined) {
      await come();
      const cameMs = performance.now();
      while (await status(ask("/integration/tables")) !== 200) {
        assert(performance.now() - cameMs < SOON_MS, "it was not soon well again");
      }
      assertEquals(await status(ask("/readyz")), 200);
    }
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
    const { stdout, stderr } = server.output();
    const reported = stdout.split("\n").filter((line) => line.includes("waiting for it"));
    assertEquals(reported.length, 1, stdout);
    assertMatch(reported[0]!, code);
    assertEquals(stderr, "");
  }
});

async function status(asked: Promise<Response>): Promise<number> {
  const response = await asked;
  await response.body?.cancel();
  await new Promise((resolve) => setTimeout(resolve, 20));
  return response.status;
}
