import { assert, assertEquals, assertMatch } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { connect, type Socket } from "node:net";
import { RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, awaitOutput, startCommand } from "./run_process.ts";
import {
  awaitBlocked,
  createServingDatabase,
  type ServingDatabase,
  updateDeal,
} from "./serving_database.ts";

const STOPPING = /"stopping"/;

let database: ServingDatabase;
let settings: Record<string, string>;

beforeAll(async () => {
  database = await createServingDatabase();
  settings = { DATABASE_URL: database.servingUrl, PORT: "0", ROWGATE_POOL_SIZE: "6" };
});
afterAll(() => database.drop());

for (const runtime of RUNTIMES) {
  describe(`rowgate serve on ${runtime}, stopped`, () => {
    /** Holds a row until it is released. */
    async function hold(fid: number): Promise<() => Promise<void>> {
      const holder = await database.admin.reserve();
      await holder`begin`;
      await holder`select from deals where fid = ${fid} for update`;
      return async () => {
        await holder`rollback`;
        holder.release();
      };
    }

    it("finishes what runs, serves no other request, and ends with 0 [R40] [CF14]", async () => {
      const server = startCommand(runtime, ["serve"], settings);
      const address = await awaitAddress(server);
      const kept = openSocket(address);
      await kept.ask("/livez");
      const letGo = await hold(1);
      const { token } = database;
      // None of them is there already: an update that would change nothing waits for no row.
      const notes = ["a", "b", "c", "d", "e"].map((note) => `${note} on ${runtime}`);
      const responses = notes.map((note) => updateDeal(address, { token, fid: 1, note }));
      // One of them waits for the row, the others for that one.
      await awaitBlocked(database.admin, notes.length);
      server.send("SIGTERM");
      await awaitOutput(server, STOPPING, "stdout");
      // On a connection that is there: the end of it, or a response that says so.
      const received = await kept.ask("/livez");
      if (received !== "") assertMatch(received, /^HTTP\/1\.1 \d+[^]*^connection: close\r$/im);
      const late = openSocket(address);
      assertEquals(await late.ask("/livez"), "");
      await letGo();
      assertEquals(
        (await Promise.all(responses)).map(({ status }) => status),
        notes.map(() => 200),
      );
      assertEquals(await server.ended, 0);
      const [row] = await database.admin`select note from deals where fid = 1`;
      assertEquals(notes.includes(row?.note), true);
    });

    it("takes requests for ROWGATE_DRAIN_MS, each the last of its connection [M1] [M2]", async () => {
      const server = startCommand(runtime, ["serve"], { ...settings, ROWGATE_DRAIN_MS: "1500" });
      const address = await awaitAddress(server);
      const kept = openSocket(address);
      assertMatch(await kept.ask("/readyz"), /^HTTP\/1\.1 200 /);
      const startedMs = performance.now();
      server.send("SIGTERM");
      await awaitOutput(server, STOPPING, "stdout");
      const ready = await kept.ask("/readyz");
      assertMatch(ready, /^HTTP\/1\.1 503 [^]*^connection: close\r$/im);
      assertMatch(ready, /"error":"The server is about to stop"/);
      const { token } = database;
      assertEquals((await updateDeal(address, { token, fid: 4, note: "late" })).status, 200);
      assertMatch(await openSocket(address).ask("/livez"), /200 [^]*^connection: close\r$/im);
      assertEquals(await server.ended, 0);
      assert(performance.now() - startedMs > 1490, "it did not wait");
      assertEquals(await openSocket(address).ask("/livez"), "");
    });

    it("ends at once with 1 on a second signal [CF15]", async () => {
      for (const second of ["SIGTERM", "SIGINT"] as const) {
        const server = startCommand(runtime, ["serve"], settings);
        const address = await awaitAddress(server);
        const letGo = await hold(2);
        const { token } = database;
        const response = updateDeal(address, { token, fid: 2, note: second }).catch(() => "cut");
        await awaitBlocked(database.admin, 1);
        server.send("SIGTERM");
        await awaitOutput(server, STOPPING, "stdout");
        server.send(second);
        // The row is still held: nothing else can have ended it.
        assertEquals(await server.ended, 1);
        await letGo();
        assertEquals(await response, "cut");
      }
    });

    it("cancels in Postgres what still runs after ROWGATE_SHUTDOWN_MS [CF14] [R29]", async () => {
      const server = startCommand(runtime, ["serve"], { ...settings, ROWGATE_SHUTDOWN_MS: "300" });
      const address = await awaitAddress(server);
      const letGo = await hold(3);
      const { token, admin } = database;
      const response = updateDeal(address, { token, fid: 3, note: "cut" }).catch(() => undefined);
      await awaitBlocked(admin, 1);
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
      // Postgres itself looks for a client that is gone every 5 s alone.
      await new Promise((resolve) => setTimeout(resolve, 500));
      const left = await admin`select from pg_stat_activity where wait_event_type = 'Lock'
        and datname = current_database() and application_name = 'rowgate'`;
      assertEquals(left.length, 0);
      await letGo();
      await response;
      const [row] = await admin`select note from deals where fid = 3`;
      assertEquals(row?.note === "cut", false);
    });

    it("ends with 0 while it still waits for a database that is unavailable [CF14]", async () => {
      const DATABASE_URL = "postgres://app@127.0.0.1:1/shop";
      const server = startCommand(runtime, ["serve"], { ...settings, DATABASE_URL });
      await awaitOutput(server, /waiting for it/, "stdout");
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
    });
  });
}

/** Asks by hand on a connection; the response is "" when the connection was closed instead. */
function openSocket(address: string): { readonly ask: (path: string) => Promise<string> } {
  const { hostname, port } = new URL(address);
  const socket: Socket = connect(Number(port), hostname);
  let received = "";
  let over = false;
  socket.on("data", (chunk) => received += chunk);
  socket.on("error", () => over = true);
  socket.on("close", () => over = true);
  async function ask(path: string): Promise<string> {
    received = "";
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
    while (!over && !/\r\n\r\n[^]*}$/.test(received)) {
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return received;
  }
  return { ask };
}
