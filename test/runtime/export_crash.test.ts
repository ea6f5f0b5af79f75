import { assert, assertEquals, assertMatch } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { readConfig } from "../../src/server/config/config.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { migrateSchema } from "../../src/database/schema/migrate_schema.ts";
import { type Cluster, startCluster } from "../support/cluster.ts";
import { openExportReader } from "../support/export_reader.ts";
import { RUNTIMES } from "../support/runtime_server.ts";
import { issueWith } from "../support/tokens.ts";
import { waitSoon, waitUntil } from "../support/wait_until.ts";
import { awaitAddress, type RunningProcess, startCommand } from "./run_process.ts";

/** Of 2 kB each: far more than the kernel keeps for a client that does not read. */
const ROWS = 40_000;

describe("exports whose Postgres crashes", () => {
  let cluster: Cluster;
  let token: string;
  const services: { runtime: string; process: RunningProcess; address: string }[] = [];

  before(async () => {
    cluster = await startCluster();
    const url = `${cluster.url}/postgres`;
    const sql = postgres(url, { max: 1, onnotice() {} });
    await sql.unsafe(`
      create table bulk (id int4 primary key, tenant_id int4 not null, body text);
      alter table bulk alter body set storage external;
      insert into bulk select n, 1, repeat(md5(n::text), 64) from generate_series(1, ${ROWS}) n;
      checkpoint`);
    await sql.end();
    const owner = openDatabase(readConfig({ DATABASE_URL: url }).config!, () => {});
    await migrateSchema(owner);
    token = await issueWith(owner)({ tenant: "1" });
    await owner.close(1000);
    for (const runtime of RUNTIMES) {
      const environment = { DATABASE_URL: url, PORT: "0", ROWGATE_POOL_SIZE: "2" };
      const process = startCommand(runtime, ["serve"], environment);
      services.push({ runtime, process, address: await awaitAddress(process) });
    }
  });
  after(async () => {
    for (const { process } of services) {
      process.send("SIGKILL");
      await process.ended;
    }
    await cluster?.stop();
  });

  /** Waits until no export runs, which is soon. */
  async function awaitFree(address: string): Promise<void> {
    await waitSoon(async () => {
      const text = await (await fetch(`${address}/metrics`)).text();
      return /^rowgate_exports_running 0$/m.test(text);
    }, 250);
  }

  it("are cut off and free within 5 s, and there are others afterwards [EX7] [XA22]", async () => {
    const readers = services.map(({ address }) => openExportReader(address, { token }));
    for (const reader of readers) {
      await reader.read(10_000);
      assertEquals(reader.status(), "200");
    }
    await cluster.whileHalted("immediate", async () => {
      for (const [place, { runtime, address }] of services.entries()) {
        const { body, whole } = await readers[place]!.readAll();
        assert(!whole, runtime);
        assert(body.split("\n").length < ROWS, runtime);
        await awaitFree(address);
      }
    });
    for (const { runtime, address, process } of services) {
      let again = { body: "", whole: false };
      await waitUntil(async () => {
        again = await openExportReader(address, { token }).readAll();
        return again.body.includes('"id"');
      });
      assert(again.whole, runtime);
      assertEquals(again.body.split("\n").length, ROWS + 1, runtime);
      assertMatch(process.output().stdout, /"result":"failed"/, runtime);
    }
  });
});
