import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type FaultProxy, startFaultProxy } from "../support/fault_proxy.ts";
import { COMMANDS, type Runtime, RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, type RunningProcess, startCommand, startProcess } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase } from "./serving_database.ts";

const NOWHERE = "nowhere.invalid";
const LATE_NAME = new URL("./late_name.js", import.meta.url).href;
/** So many requests, 20 ms apart, may fail once the database is there; processes share the machine. */
const MOST_FAILURES = 250;

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
      const server = await startAway(runtime, proxy.through(database.servingUrl));
      await proveServing(server);
      await proveStopping(server, /ECONNREFUSED/);
    });

    it(`is reported at once when its name does not resolve on ${runtime} [DB23]`, async () => {
      const url = proxy.through(database.servingUrl).replace("@", `@${NOWHERE}:5432,`);
      const server = await startAway(runtime, url);
      await proveServing(server);
      await proveStopping(server, /ECONNREFUSED/);
      const alone = proxy.through(database.servingUrl).replace("127.0.0.1", NOWHERE);
      const waiting = startCommand(runtime, ["serve"], { DATABASE_URL: alone, PORT: "0" });
      await proveWaiting(waiting);
      await proveStopping(waiting, /ENOTFOUND|EAI_AGAIN/);
    });
  }

  it("is found once its name resolves [DB23]", async () => {
    const file = join(folder, "resolves");
    const [program = "", ...parameters] = COMMANDS.node;
    const server = startProcess(program, ["--import", LATE_NAME, ...parameters, "serve"], {
      DATABASE_URL: proxy.through(database.servingUrl).replace("127.0.0.1", "db.late.invalid"),
      LATE_NAME: file,
      PORT: "0",
    });
    await proveWaiting(server);
    await writeFile(file, "");
    await proveServing(server);
    await proveStopping(server, /ENOTFOUND|EAI_AGAIN/);
  });

  /** Starts a server while its database refuses it, which then no longer does. */
  function startAway(runtime: Runtime, DATABASE_URL: string): Promise<RunningProcess> {
    return proxy.during({ kind: "refuse" }, async () => {
      const server = startCommand(runtime, ["serve"], { DATABASE_URL, PORT: "0" });
      await proveWaiting(server);
      return server;
    });
  }

  async function openAsk(server: RunningProcess): Promise<(path: string) => Promise<Response>> {
    const address = await awaitAddress(server);
    return (path) =>
      fetch(`${address}${path}`, { headers: { authorization: `Bearer ${database.token}` } });
  }

  /** Holds a server to what it owes while there is no database. */
  async function proveWaiting(server: RunningProcess): Promise<void> {
    const ask = await openAsk(server);
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
  }

  /** Holds it to what it owes once the database has come. */
  async function proveServing(server: RunningProcess): Promise<void> {
    const ask = await openAsk(server);
    for (let failures = 0; await status(ask("/integration/tables")) !== 200; failures++) {
      assert(failures < MOST_FAILURES, "it was not soon well again");
    }
    assertEquals(await status(ask("/readyz")), 200);
  }

  /** Ends it, and looks at what it has said: once why there was no database. */
  async function proveStopping(server: RunningProcess, code: RegExp): Promise<void> {
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
