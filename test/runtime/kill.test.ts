import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { afterAll, afterEach, beforeAll, beforeEach, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackCluster } from "../support/unpack_cluster.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { awaitAddress, awaitText, type RunningProcess, startCommand } from "./run_process.ts";
import { createServingDatabase, type ServingDatabase, updateDeal } from "./serving_database.ts";

const BANNER_END = /Rowgate serves at [\s\S]*\n\n$/;

let database: ServingDatabase;

beforeAll(async () => {
  database = await createServingDatabase();
});
afterAll(() => database.drop());

for (const runtime of RUNTIMES) {
  describe(`rowgate serve on ${runtime}, killed`, () => {
    let folder: string;

    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), "rowgate-kill-"));
    });
    afterEach(() => rm(folder, { recursive: true, force: true }));

    it("still has every acknowledged update, and serves again without repair [CF16]", async () => {
      const settings = { DATABASE_URL: database.servingUrl, PORT: "0" };
      const server = startCommand(runtime, ["serve"], settings);
      const address = await awaitAddress(server);
      const { token, admin } = database;
      let acknowledged = -1;
      let killed = false;
      // One after the other, so that the last acknowledged one is what must be there, or its next.
      for (let number = 0; !killed; number++) {
        const response = await updateDeal(address, { token, fid: 1, note: `n${number}` })
          .catch(() => undefined);
        if (response?.status === 200) acknowledged = number;
        if (response === undefined) killed = true;
        if (number === 10) server.send("SIGKILL");
      }
      await server.ended;
      const [row] = await admin`select note from deals where fid = 1`;
      assert([`n${acknowledged}`, `n${acknowledged + 1}`].includes(row?.note), row?.note);
      const again = startCommand(runtime, ["serve"], settings);
      const response = await updateDeal(await awaitAddress(again), {
        token,
        fid: 1,
        note: "again",
      });
      assertEquals(response.status, 200, response.text);
      again.send("SIGTERM");
      assertEquals(await again.ended, 0);
    });

    it("fills nothing on a taken port; opens the data again whose lock and last update were left behind [CF4] [CF16]", async () => {
      const settings = { PORT: "0", ROWGATE_DATA_DIR: join(folder, "data") };
      await unpackCluster(settings.ROWGATE_DATA_DIR);
      const PORT = new URL(database.servingUrl).port;
      const rejected = startCommand(runtime, ["serve"], { ...settings, PORT });
      assertEquals(await rejected.ended, 1);
      assertMatch(rejected.output().stderr, /the address is in use/);
      const server = startCommand(runtime, ["serve"], settings);
      // So the tokens of the first start are shown by the one that serves.
      const banner = await awaitText(server, BANNER_END);
      const token = /acme +(rg_\w+)/.exec(banner)![1]!;
      const address = /http:\/\/[\d.:]+/.exec(banner)![0];
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
      const ask = async (method: string, url: string, body: unknown) =>
        await (await fetch(url, { method, headers, body: JSON.stringify(body) })).json();
      const orders = "integration/tables/orders";
      const query = { select: ["order_no", "note"], sort: [{ field: "order_no" }], per_page: 1 };
      const { records: [{ order_no }] } = await ask("POST", `${address}/${orders}/query`, query);
      const change = { filters: { order_no }, fields: { note: "before the kill" } };
      const done = await ask("PATCH", `${address}/${orders}/records/single`, change);
      assertEquals(done.success, true, JSON.stringify(done));
      server.send("SIGKILL");
      await server.ended;
      assert((await stat(join(folder, "data", "lock"))).isFile());

      const again = startCommand(runtime, ["serve"], settings);
      const second = /http:\/\/[\d.:]+/.exec(await awaitText(again, BANNER_END))![0];
      const { records } = await ask("POST", `${second}/${orders}/query`, query);
      assertEquals(records, [{ order_no, note: "before the kill" }]);
      again.send("SIGTERM");
      assertEquals(await again.ended, 0);
    });

    // Each start of the embedded Postgres is expensive, and the files are the same on every runtime.
    if (runtime !== "node") return;

    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      it(`says at once what its first start does; keeps the cluster that it was filling at ${signal}, and fills all of it at the next start [R56] [CF4] [R4] [R5]`, async () => {
        const settings = { PORT: "0", ROWGATE_DATA_DIR: join(folder, "data") };
        const cluster = join(folder, "data", "postgres");
        const first = startCommand(runtime, ["serve"], settings);
        await awaitText(first, /^First start: creating an embedded Postgres in /);
        // Before anything of Postgres is loaded, which takes most of the time.
        await assertRejects(() => stat(cluster), Error, "ENOENT");
        await awaitFolder(cluster, first);
        first.send(signal);
        assertEquals(await first.ended, signal === "SIGTERM" ? 0 : null);
        assert(!/Rowgate serves at/.test(first.output().stderr));
        const { ino } = await stat(cluster);

        const again = startCommand(runtime, ["serve"], settings);
        const banner = await awaitText(again, BANNER_END);
        const address = /http:\/\/[\d.:]+/.exec(banner)![0];
        const tokens = [...banner.matchAll(/(?:acme|globex) +(rg_\w+)/g)];
        assertEquals(tokens.length, 2);
        for (const [, token] of tokens) {
          const response = await fetch(`${address}/integration/tables/order_lines/query`, {
            method: "POST",
            headers: { "authorization": `Bearer ${token}`, "content-type": "application/json" },
            body: "{}",
          });
          assert((await response.json()).total > 1000);
        }
        // To create the cluster is most of a first start.
        assertEquals((await stat(cluster)).ino, ino);
        again.send("SIGTERM");
        assertEquals(await again.ended, 0);
      });
    }
  });
}

/** Waits as long as the process runs: a cluster is expensive, and the machine may be busy. */
async function awaitFolder(path: string, running: RunningProcess): Promise<void> {
  let ended = false;
  running.ended.then(() => ended = true);
  while (await stat(path).then(() => false, () => true)) {
    if (ended) throw new Error(`ended without ${path}: ${running.output().stderr}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
