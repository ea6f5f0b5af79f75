import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { type Changes, openChanges } from "../../../src/changes/changes.ts";
import { readConfig } from "../../../src/config/config.ts";
import { ApiError } from "../../../src/errors/api_error.ts";
import { type ChangesPlan, planChanges } from "../../../src/plan/changes_plan.ts";
import type { Database } from "../../../src/postgres/database.ts";
import { openDatabase } from "../../../src/postgres/open_database.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { awaitReplay, startStandby } from "../../support/standby.ts";
import { waitUntil } from "../../support/wait_until.ts";
import postgres from "postgres";

describe("a changes feed and replication", () => {
  let primary: Cluster;
  let standby: Cluster;
  let service: TestService;
  let database: Database;
  let changes: Changes;
  let plan: ChangesPlan;

  before(async () => {
    primary = await startCluster({ settings: { wal_level: "logical" } });
    const admin = postgres(`${primary.url}/postgres`, { max: 1, onnotice: () => {} });
    await admin`create database template_empty`;
    await admin.unsafe("create role rowgate_app login password 'rowgate_app'");
    await admin.end();
    service = await createTestService("real", { template: "empty", cluster: primary.url });
    await service.database.admin.unsafe(`create table guests (id int4 primary key, tenant_id int4);
      insert into guests values (1, 1);
      create table days (id int4, day int4, tenant_id int4, primary key (id, day))
      partition by range (day);
      create table days_1 partition of days for values from (0) to (9);
      grant select on guests, days to rowgate_app`);
    await service.catalogue.refresh(await service.catalogue.current(), { reason: "test" });
    await enableFeeds(service, ["guests"]);
    const { tables } = await service.catalogue.current();
    const access = { tenant: "1" } as never;
    plan = planChanges({ fields: [], limit: 10 }, { table: tables.get("guests")!, access });
    standby = await startStandby(primary);
    const url = `${standby.url}${new URL(service.database.url!).pathname}`;
    const { config } = readConfig({ DATABASE_URL: url });
    database = openDatabase(config!, () => {});
    changes = openChanges(database, { observe: () => {}, tenantSetting: undefined });
  });
  after(async () => {
    changes?.close();
    await database?.close(1000);
    await service?.close().catch(() => {});
    await standby?.stop();
    await primary?.stop();
  });

  async function statusOf(read: Promise<unknown>): Promise<number> {
    const error = await assertRejects(() => read, ApiError);
    return error.status;
  }

  it("is 503 on the standby, and 410 where it has become the primary [CH14] [CH13] [FD6]", async () => {
    // The primary was restarted for the copy of its data. Until a session has been opened again, half a
    // second later at most, the service fails fast with 503.
    let cursor = "";
    await waitUntil(async () => {
      const { status, body } = await service.send(
        "GET",
        "/integration/tables/guests/changes?since=now",
      );
      assert(status === 200 || status === 503, JSON.stringify(body));
      cursor = String(body["cursor"]);
      return status === 200;
    });
    await awaitReplay(primary, standby);
    assertEquals(await statusOf(changes.read(plan, "start")), 503);
    const admin = postgres(`${standby.url}/postgres`, { max: 1, onnotice: () => {} });
    await admin`select pg_promote()`;
    await waitUntil(async () => {
      const [row] = await admin`select pg_is_in_recovery() as standby`;
      return row!["standby"] === false;
    });
    await admin.end();
    const since = await changes.open(cursor, plan);
    assertEquals(await statusOf(changes.read(plan, since)), 410);
    const page = await changes.read(plan, "start");
    assertEquals([page.changes.length, page.more], [1, false]);
  });
  it("catches what logical replication writes, once it is enabled for it [CH1] [CH3]", async () => {
    const { admin } = service.database;
    const source = postgres(`${primary.url}/template_empty`, { max: 1, onnotice: () => {} });
    await source.unsafe(`create table guests (id int4 primary key, tenant_id int4);
      create table days (id int4, day int4, tenant_id int4, primary key (id, day));
      create publication everything for all tables`);
    await source`select pg_create_logical_replication_slot('writes', 'pgoutput')`;
    const connection = `${primary.url}/template_empty`;
    await admin.unsafe(`create subscription writes connection '${connection}' publication everything
      with (create_slot = false, slot_name = 'writes', copy_data = false, synchronous_commit = off)`);
    const path = (table: string, since: string) =>
      service.send("GET", `/integration/tables/${table}/changes?since=${since}`);
    assertEquals((await path("guests", "now")).status, 404);
    await enableFeeds(service, ["guests", "days"]);
    const cursors = new Map<string, string>();
    for (const table of ["guests", "days"]) {
      cursors.set(table, String((await path(table, "now")).body["cursor"]));
    }
    const caught = async (table: string, count: number) => {
      const keys: string[] = [];
      await waitUntil(async () => {
        const { body } = await path(table, cursors.get(table)!);
        cursors.set(table, String(body["cursor"]));
        for (const { type, key } of body["changes"] as { type: string; key: object }[]) {
          keys.push(`${type} ${Object.values(key).join(" ")}`);
        }
        return keys.length >= count;
      });
      return keys.sort();
    };
    // The worker's writes are the test's own: a transaction of the superuser says so.
    await admin.begin(async () => {
      await source`insert into guests select n, n % 2 from generate_series(11, 14) n`;
      assertEquals(await caught("guests", 2), ["upsert 11", "upsert 13"]);
      await source`update guests set id = id + 10, tenant_id = 1 where id in (11, 12)`;
      assertEquals(await caught("guests", 3), ["delete 11", "upsert 21", "upsert 22"]);
      await source`truncate guests`;
      assertEquals((await caught("guests", 4)).length, 4);
      await source`insert into days values (1, 1, 1)`;
      assertEquals(await caught("days", 1), ["upsert 1 1"]);
    });
    await admin`insert into guests values (99, 1)`;
    assertEquals(await caught("guests", 1), ["upsert 99"]);
    await admin.unsafe(`alter subscription writes disable;
      alter subscription writes set (slot_name = none); drop subscription writes`);
    await source.end();
  });
});
