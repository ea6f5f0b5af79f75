import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { type Changes, openChanges } from "../../../src/feeds/changes/changes.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { type ChangesPlan, planChanges } from "../../../src/records/plan/changes_plan.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { type Cluster, startCluster } from "../../support/cluster.ts";
import { enableFeeds } from "../../support/feeds.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { awaitReplay, startStandby } from "../../support/standby.ts";
import { waitUntil } from "../../support/wait_until.ts";
import { followSubscription, SUBSCRIBED_SCHEMA } from "./subscription.ts";
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
    await service.database.admin.unsafe(SUBSCRIBED_SCHEMA);
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

  it("catches what logical replication writes, once it is enabled for it [CH1] [CH3] [CH18]", async () => {
    await followSubscription(service, primary.url);
  });
});
