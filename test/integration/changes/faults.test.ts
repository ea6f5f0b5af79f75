// What befalls the database while clients follow: no copy is ever wrong, and one that cannot be kept is
// begun again.
import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { readFile, rename, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import postgres from "postgres";
import { openChanges } from "../../../src/feeds/changes/changes.ts";
import { keepChanges } from "../../../src/feeds/changes/retention.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { planChanges } from "../../../src/records/plan/changes_plan.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import { type Cluster, startCluster, succeed } from "../../support/cluster.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { awaitReplay, startStandby } from "../../support/standby.ts";
import { ignoreLostSockets } from "../../support/lost_sockets.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { type Follower, openFollower } from "./follower.ts";

/** A device on which each write finds no space left. */
const FULL = "/dev/full";
const FOLLOWED = { table: "parcels", columns: ["id", "tenant_id", "n"] };

describe("faults while clients follow a table", () => {
  let cluster: Cluster;
  let service: TestService;
  let followers: readonly Follower[];

  /** Repeats a statement whose session has ended; a second time does no harm to the statements here. */
  async function write(statement: string) {
    for (let tries = 0; tries < 200; tries++) {
      const result = await service.database.admin.unsafe(statement).catch((error) => {
        if (/^(57P|08|CONN|ECONN|EPIPE)/.test(String(error.code))) return undefined;
        throw error;
      });
      if (result !== undefined) return result;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error("Postgres does not answer");
  }

  let heed = () => {};

  before(async () => {
    heed = ignoreLostSockets();
    // Commits that do not wait for the disk are lost, as long as no other one waits after them.
    const settings = { synchronous_commit: "off", wal_writer_delay: "10s" };
    cluster = await startCluster({ settings });
    await prepare(cluster);
    service = await openService(cluster);
    followers = [1, 2].map((tenant) => openFollower(service, { ...FOLLOWED, tenant }));
  });
  after(async () => {
    await service?.close().catch(() => {});
    await cluster?.stop();
    heed();
  });

  async function compare(why: string): Promise<void> {
    for (const follower of followers) await follower.compare(why);
  }

  /** Ends all sessions, which then open their files again. */
  async function endSessions(): Promise<void> {
    const sql = postgres(service.database.url!, { max: 1, onnotice: () => {} });
    await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`;
    await sql.end({ timeout: 1 });
  }

  // First, while the log has no page yet.
  it("a full disk makes the writer's statement fail, and no client gets a change that was not written [FD9] [CH18]", async () => {
    const [row] = await write(`select pg_relation_filepath('rowgate.changes') as file,
      pg_relation_size('rowgate.changes')::int4 as size`);
    assertEquals(row!["size"], 0);
    await compare("before");
    const file = join(cluster.data, String(row!["file"]));
    await rename(file, `${file}.kept`);
    await symlink(FULL, file);
    try {
      const failed = await assertRejects(() => write("update parcels set n = -1"), Error);
      assertEquals((failed as { code?: unknown }).code, "53100");
      // Reading goes on.
      await compare("full");
    } finally {
      await rename(`${file}.kept`, file);
    }
    await endSessions();
    await write("update parcels set n = n + 1 where id = 1");
    await compare("space again");
    assertEquals(followers.map(({ begun }) => begun()), [0, 0]);
  });

  it("a backend that is killed loses its open transaction, and no client sees that transaction [FD7]", async () => {
    const held = postgres(service.database.url!, { max: 1, onnotice: () => {} });
    await held.unsafe("begin");
    await held.unsafe("update parcels set n = 77 where id < 20");
    const [row] = await held.unsafe("select pg_backend_pid() as pid");
    await write("update parcels set n = n + 1 where id = 23");
    process.kill(Number(row!["pid"]), "SIGKILL");
    await held.end({ timeout: 0 }).catch(() => {});
    await write("update parcels set n = n + 1 where id = 4");
    await compare("after a backend was killed");
    assertEquals((await write("select from parcels where n = 77")).length, 0);
  });

  it("after the postmaster is killed and started again, no committed change is missed [FD7]", async () => {
    await write("update parcels set n = n + 1 where id = 5");
    const startedAt = "select pg_postmaster_start_time()::text as at";
    const [before] = await write(startedAt);
    const [first] = (await readFile(join(cluster.data, "postmaster.pid"), "utf8")).split("\n");
    process.kill(Number(first), "SIGKILL");
    await waitUntil(() => cluster.start().then(() => true, () => false));
    await write("update parcels set n = n + 1 where id = 6");
    await compare("after the postmaster was killed");
    assert((await write(startedAt))[0]!["at"] !== before!["at"]);
  });

  it("a Postgres that crashes keeps what clients have seen, of all writers that do not wait for the disk [CH18] [FD7]", async () => {
    await write("create table unfollowed (n int4)");
    await write("update parcels set n = 88 where id = 13");
    // One transaction, as each text of several statements is.
    await write(`set synchronous_commit = on; update parcels set n = 89 where id = 14;
      set synchronous_commit = off`);
    await write(`set session_replication_role = replica; update parcels set n = 90 where id = 15;
      set constraints all immediate; set synchronous_commit = off;
      set session_replication_role = origin`);
    await compare("before the crash");
    // What no client has seen is lost.
    await write("insert into unfollowed values (1)");
    await cluster.restart("immediate");
    service.database.rows.afterWrite();
    await compare("after the crash");
    const seen = await write("select n from parcels where id in (13, 14, 15) order by id");
    assertEquals(seen.map(({ n }) => n), [88, 89, 90]);
    assertEquals((await write("select from unfollowed")).length, 0);
  });

  it("a clock that is set back hides no change and does not disturb the retention [FD10] [CH19]", async () => {
    await write("update parcels set n = n + 1 where id in (7, 8)");
    // As they are when the clock was two days ahead, and is right again.
    await write("update rowgate.changes set at = at + interval '2 days'");
    await compare("set back");
    await write("update parcels set n = n + 1 where id in (9, 10)");
    await prune(1);
    await compare("pruned");
    const begun = followers.map((follower) => follower.begun());
    await write("update parcels set n = n + 1 where id in (11, 12)");
    await compare("later");
    assertEquals(followers.map((follower) => follower.begun()), begun);
    // Once what was written after them is old, those of the future are old as well.
    await write("update rowgate.changes set at = at - interval '3 days' where at < now()");
    await waitUntil(async () => {
      await prune(1);
      return (await write("select from rowgate.changes")).length === 0;
    });
  });

  it("makes a client begin again when entries are deleted between two of its pages [FD5] [CH12]", async () => {
    await compare("before");
    const begun = followers[0]!.begun();
    await write("update parcels set n = n + 1");
    await followers[0]!.readPage(7);
    await write("update parcels set n = n + 1 where id % 2 = 0");
    await waitUntil(async () => {
      await prune(0);
      return (await write("select from rowgate.changes")).length === 0;
    });
    await followers[0]!.compare("pruned between pages");
    assertEquals(followers[0]!.begun(), begun + 1);
    await compare("after");
  });

  it("makes every client begin again after the data is restored from a backup [FD5] [CH13]", async () => {
    await compare("kept");
    const kept = `${cluster.data}.kept`;
    await cluster.whileHalted(
      "fast",
      () => succeed(spawn("cp", ["-a", cluster.data, kept]), "cp"),
    );
    await write("update parcels set n = n + 1000");
    await compare("lost soon");
    const begun = followers.map((follower) => follower.begun());
    await cluster.whileHalted("immediate", async () => {
      await rm(cluster.data, { recursive: true });
      await rename(kept, cluster.data);
    });
    service.database.rows.afterWrite();
    // Another transaction with the same number, and more WAL than there was.
    await write("update parcels set n = n + 1");
    await write("create table filler as select repeat('x', 100) from generate_series(1, 20000)");
    await compare("put back");
    assertEquals(followers.map((follower) => follower.begun()), begun.map((times) => times + 1));
  });

  /** Prunes once, what is older than so many days. */
  async function prune(days: number): Promise<void> {
    const observed: Observation[] = [];
    const observe = (observation: Observation) => void observed.push(observation);
    const kept = keepChanges(service.owner, { days, observe, firstMs: 0 });
    await waitUntil(() => Promise.resolve(observed.some(({ kind }) => kind === "changes_log")));
    kept.close();
  }
});

describe("a failover that loses commits", () => {
  it("makes clients begin again at the new primary, even those that saw the lost commits [FD5] [CH13]", async () => {
    const primary = await startCluster();
    let standby: Cluster | undefined;
    let service: TestService | undefined;
    try {
      await prepare(primary);
      service = await openService(primary);
      standby = await startStandby(primary);
      const follower = openFollower(service, { ...FOLLOWED, tenant: 1 });
      await waitUntil(() => service!.database.admin`select 1`.then(() => true, () => false));
      await follower.compare("before");
      await awaitReplay(primary, standby);
      const servers = { primary, standby, service };
      await standby.whileHalted("fast", async () => {
        await servers.service.database.admin`update parcels set n = 555 where tenant_id = 1`;
        await follower.compare("lost soon");
        await primary.whileHalted("immediate", () => goOn(servers, follower.cursor()));
      });
    } finally {
      await service?.close().catch(() => {});
      await standby?.stop();
      await primary.stop();
    }
  });

  /** Promotes the standby while the primary is away, and follows it from a cursor of the primary. */
  async function goOn(
    { standby, service }: { readonly standby: Cluster; readonly service: TestService },
    cursor: string,
  ): Promise<void> {
    await standby.start();
    let promoted: Database | undefined;
    try {
      const admin = postgres(`${standby.url}/postgres`, { max: 1, onnotice: () => {} });
      await admin`select pg_promote()`;
      await waitUntil(async () => {
        const [row] = await admin`select pg_is_in_recovery() as standby`;
        return row!["standby"] === false;
      });
      await admin.end();
      const url = new URL(service.database.url!);
      url.port = new URL(standby.url).port;
      const { config } = readConfig({ DATABASE_URL: url.href, ROWGATE_POOL_SIZE: "1" });
      promoted = openDatabase(config!, () => {});
      // As many transactions as were lost, which changed other rows.
      await promoted.run((sql) => sql`update parcels set n = 666 where id < 5`, { write: true });
      const changes = openChanges(promoted, { observe: () => {}, tenantSetting: undefined });
      const { tables } = await service.catalogue.current();
      const access = { tenant: "1" } as never;
      const plan = planChanges({ fields: ["n"], limit: 100 }, {
        table: tables.get("parcels")!,
        access,
      });
      const since = await changes.open(cursor, plan);
      const error = await assertRejects(() => changes.read(plan, since), ApiError);
      assertEquals([error.status, error.message.includes("begin again")], [410, true]);
      const page = await changes.read(plan, "start");
      assertEquals([page.changes.length, page.changes.join().includes("555")], [20, false]);
      changes.close();
    } finally {
      await promoted?.close(1000);
    }
  }
});

async function prepare(cluster: Cluster): Promise<void> {
  const admin = postgres(`${cluster.url}/postgres`, { max: 1, onnotice: () => {} });
  await admin`create database template_empty`;
  await admin.unsafe("create role rowgate_app login password 'rowgate_app'");
  await admin.end();
}

/** Makes a service whose table has a feed, and 20 rows of each tenant. */
async function openService(cluster: Cluster): Promise<TestService> {
  const service = await createTestService("real", { template: "empty", cluster: cluster.url });
  await service.database.admin.unsafe(
    `create table parcels (id int4 primary key, tenant_id int4 not null, n int4);
    insert into parcels select n, 1 + n % 2, n from generate_series(1, 40) n;
    grant select on parcels to rowgate_app`,
  );
  await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
  await enableFeeds(service, ["parcels"]);
  return service;
}
