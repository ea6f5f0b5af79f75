// A commit is not one moment: it waits for standbys, or for the disk, or is followed by a crash before it
// is there. No copy is wrong before, during or after it.
import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import postgres from "postgres";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { ignoreLostSockets } from "../../support/lost_sockets.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { type Follower, openFollower } from "./follower.ts";
import { openReader } from "./reader.ts";

const SETTINGS = {
  // Nothing but a commit that waits for it is on the disk soon.
  synchronous_commit: "off",
  wal_writer_delay: "10s",
  // A commit that waits for this standby waits until the setting is changed: the standby does not exist.
  synchronous_standby_names: "nobody",
};
const TABLE = "create table parcels (id int4 primary key, tenant_id int4 not null, n int4)";

describe("a changes feed while commits last", () => {
  let cluster: Cluster;
  let service: TestService;
  let followers: readonly Follower[];
  let heed = () => {};
  const run = (text: string) => service.database.admin.unsafe(text);

  before(async () => {
    heed = ignoreLostSockets();
    cluster = await startCluster({ settings: SETTINGS });
    const admin = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
    await admin`create database template_empty`;
    await admin.unsafe("create role rowgate_app login password 'rowgate_app'");
    await admin.end();
    service = await createTestService("real", { template: "empty", cluster: cluster.url });
    await run(`${TABLE}; insert into parcels select n, 1 + n % 2, n from generate_series(1, 40) n;
      grant select on parcels to rowgate_app`);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    await enableFeeds(service, ["parcels"]);
    followers = [1, 2].map((tenant) =>
      openFollower(service, { table: "parcels", tenant, columns: ["id", "tenant_id", "n"] })
    );
  });
  after(async () => {
    await service?.close().catch(() => {});
    await cluster?.stop();
    heed();
  });

  async function compare(why: string): Promise<void> {
    for (const follower of followers) await follower.compare(why);
  }

  async function valueOf(id: number): Promise<number> {
    const [row] = await run(`select n from parcels where id = ${id}`);
    return row!["n"];
  }

  /** Begins to commit a change of two rows, one of each tenant: on the disk, and not yet seen. */
  async function beginCommit(n: number) {
    const session = postgres(service.database.url!, { max: 1, onnotice: () => {} });
    await session`set synchronous_commit = on`;
    const [row] = await session`select pg_backend_pid() as pid`;
    const committed = session.unsafe(`update parcels set n = ${n} where id in (1, 2)`)
      .then(() => true, () => false);
    await waitUntil(async () => {
      const found = await run(`select from pg_stat_activity
        where pid = ${row!["pid"]} and wait_event = 'SyncRep'`);
      return found.length === 1;
    });
    return {
      committed,
      // Postgres then takes it for committed.
      release: () => run(`select pg_cancel_backend(${row!["pid"]})`),
      end: () => session.end({ timeout: 0 }).catch(() => {}),
    };
  }

  /** Has clients follow until a commit lasts: later transactions are there already, and cursors go beyond them. */
  async function followDuringCommit(n: number) {
    await compare("before");
    const commit = await beginCommit(n);
    await run("update parcels set n = n + 1 where id in (3, 4)");
    await compare("while it lasts");
    return commit;
  }

  async function crash(): Promise<void> {
    await cluster.restart("immediate");
    service.database.rows.afterWrite();
    await waitUntil(() => run("select").then(() => true, () => false));
  }

  it("delivers the changes of a slow commit once it ends, also to waiting clients [CH10] [CH18]", async () => {
    const commit = await followDuringCommit(500);
    assertEquals(await valueOf(2), 2);
    const waiting = openReader(service).ask("parcels", followers[0]!.cursor(), "&wait=20");
    await waitUntil(() =>
      Promise.resolve(
        service.observations.some((each) => each.kind === "changes_waiting" && each.clients === 1),
      )
    );
    await commit.release();
    assertEquals(await commit.committed, true);
    service.database.rows.afterWrite();
    const { body } = await waiting;
    assertEquals((body["changes"] as { key: object }[]).map(({ key }) => key), [{ id: 2 }]);
    await compare("when it is over");
    assertEquals(await valueOf(2), 500);
    assertEquals(followers.map(({ begun }) => begun()), [0, 0]);
    await commit.end();
  });

  it("delivers the changes of a commit that a crash interrupted and recovery completed [CH10] [CH18] [FD7]", async () => {
    const commit = await followDuringCommit(600);
    assertEquals(await valueOf(2), 500);
    await crash();
    assertEquals(await commit.committed, false);
    await compare("after the crash");
    assertEquals(await valueOf(2), 600);
    assertEquals(followers.map(({ begun }) => begun()), [0, 0]);
    await commit.end();
  });

  it("never loses a delivered change of a subscription whose worker does not wait for the disk [CH18] [FD7]", async () => {
    const source = await startCluster({ settings: { wal_level: "logical" } });
    const publisher = postgres(`${source.url}/postgres`, { max: 1, onnotice: () => {} });
    try {
      await publisher.unsafe(`${TABLE}; create publication parcels for table parcels`);
      await publisher`select pg_create_logical_replication_slot('parcels', 'pgoutput')`;
      await run(`create subscription parcels connection '${source.url}/postgres'
        publication parcels
        with (create_slot = false, slot_name = 'parcels', copy_data = false, synchronous_commit = off)`);
      await enableFeeds(service, ["parcels"]);
      const replicate = async (id: number) => {
        await publisher`insert into parcels values (${id}, 1, 700)`;
        await waitUntil(async () => (await run(`select from parcels where id = ${id}`)).length > 0);
      };
      await compare("subscribed");
      const begun = followers.map((follower) => follower.begun());
      await replicate(101);
      await compare("replicated");
      // No client has seen this one, and the source cannot send it again.
      await replicate(102);
      await source.whileHalted("immediate", async () => {
        await crash();
        await compare("after the crash");
        const left = await run("select id from parcels where id > 100");
        assertEquals(left.map(({ id }) => id), [101]);
        assertEquals(followers.map((follower) => follower.begun()), begun);
      });
    } finally {
      await run(`alter subscription parcels disable;
        alter subscription parcels set (slot_name = none); drop subscription parcels`);
      await publisher.end({ timeout: 0 }).catch(() => {});
      await source.stop();
    }
  });
});
