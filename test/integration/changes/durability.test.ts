// What a client is given outlasts a crash, though no writer waits for the disk: the reader does.
import { assert, assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { openReader, type Reader } from "./reader.ts";

// Nothing but a commit that waits for it is on the disk soon.
const SETTINGS = {
  synchronous_commit: "off",
  wal_writer_delay: "10s",
  wal_level: "minimal",
  max_wal_senders: "0",
};

describe("a feed whose writers do not wait for the disk", () => {
  let cluster: Cluster;
  let service: TestService;
  let reader: Reader;
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    cluster = await startCluster({ settings: SETTINGS });
    const admin = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
    await admin`create database template_empty`;
    await admin.unsafe("create role rowgate_app login password 'rowgate_app'");
    // A reader that may write nothing.
    await admin.unsafe("alter role rowgate_app set default_transaction_read_only = on");
    await admin.end();
    service = await createTestService("real", { template: "empty", cluster: cluster.url });
    await run(`create table boxes (id int4 primary key, tenant_id int4 not null, n int4);
      insert into boxes values (1, 1, 0), (2, 2, 0);
      grant select on boxes to rowgate_app`);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    await enableFeeds(service, ["boxes"]);
    reader = openReader(service);
  });
  after(async () => {
    await service?.close();
    await cluster?.stop();
  });

  async function isOnDisk(place: string): Promise<boolean> {
    const [row] = await service.database.admin`
      select pg_current_wal_flush_lsn() >= ${place}::text::pg_lsn as found`;
    return row!["found"];
  }

  /** Writes a row of a tenant, and gives where the WAL ends, which is not on the disk. */
  async function write(tenant: number): Promise<string> {
    for (;;) {
      await run(`update boxes set n = n + 1 where tenant_id = ${tenant}`);
      const [row] = await run("select pg_current_wal_insert_lsn()::text as place");
      if (!await isOnDisk(row!["place"])) return row!["place"];
    }
  }

  it("flushes the changes itself, and leaves synchronous_commit off for the writer [CH18]", async () => {
    const kept = await service.database.admin.begin(async (sql) => {
      await sql`update boxes set n = n + 1`;
      return await sql`show synchronous_commit`;
    });
    assertEquals(kept[0]!["synchronous_commit"], "off");
  });

  it("delivers only changes, rows and positions that are on the disk [CH18]", async () => {
    const ways: readonly (readonly [since: string, tenant: number, more?: string])[] = [
      ["now", 1],
      ["start", 1],
      ["cursor", 1],
      // A cursor moves on with what others write.
      ["cursor", 2],
      ["cursor", 2, "&wait=1"],
    ];
    for (const [since, tenant, more] of ways) {
      const { cursor } = await reader.read("boxes", "now");
      const place = await write(tenant);
      const answer = await reader.ask("boxes", since === "cursor" ? cursor : since, more);
      assertEquals(answer.status, 200, answer.text);
      assert(answer.body["cursor"] !== cursor);
      assert(await isOnDisk(place), `${since} ${tenant} ${more}`);
    }
  });

  it("writes nothing while the server is idle, even at the start of a WAL file [CH9]", async () => {
    const { cursor } = await reader.read("boxes", "now");
    // Each reader that writes takes a number, as each writer does.
    const next = async () => {
      const [row] = await run("select pg_snapshot_xmax(pg_current_snapshot())::text as next");
      return row!["next"];
    };
    const isFree = async (before: string) => {
      await run(before);
      const first = await next();
      await reader.read("boxes", cursor);
      return await next() === first;
    };
    for (const before of ["checkpoint", "select pg_switch_wal()"]) {
      // Postgres itself may have written something in between.
      assert(await isFree(before) || await isFree(before), before);
    }
  });
});
