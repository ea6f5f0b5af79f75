import { assertEquals } from "@std/assert";
import postgres from "postgres";
import { enableFeeds } from "../../support/feeds.ts";
import type { TestService } from "../../support/service.ts";
import { waitUntil } from "../../support/wait_until.ts";

/** Tables that a subscription writes into: one alone, and one in partitions. */
export const SUBSCRIBED_SCHEMA = `
  create table guests (id int4 primary key, tenant_id int4);
  insert into guests values (1, 1);
  create table days (id int4, day int4, tenant_id int4, primary key (id, day)) partition by range (day);
  create table days_1 partition of days for values from (0) to (9);
  grant select on guests, days to rowgate_app;`;

const SOURCE_SCHEMA = `
  create table guests (id int4 primary key, tenant_id int4);
  create table days (id int4, day int4, tenant_id int4, primary key (id, day));
  create publication everything for all tables`;

type Subject = Pick<TestService, "send" | "database" | "owner" | "catalogue">;

/**
 * Follows the tables while another database of the cluster is their source: every row that the
 * subscription writes is caught, though its commits do not wait for the disk.
 */
export async function followSubscription(service: Subject, cluster: string): Promise<void> {
  const { admin } = service.database;
  const server = postgres(`${cluster}/postgres`, { max: 1, onnotice: () => {} });
  await server`create database source`;
  await server.end();
  const source = postgres(`${cluster}/source`, { max: 1, onnotice: () => {} });
  await source.unsafe(SOURCE_SCHEMA);
  await source`select pg_create_logical_replication_slot('writes', 'pgoutput')`;
  await enableFeeds(service, ["guests"]);
  await admin.unsafe(`create subscription writes connection '${cluster}/source'
    publication everything
    with (create_slot = false, slot_name = 'writes', copy_data = false, synchronous_commit = off)`);
  try {
    await follow(service, source);
  } finally {
    // Otherwise the database could not be dropped.
    await admin.unsafe(`alter subscription writes disable;
      alter subscription writes set (slot_name = none); drop subscription writes`);
    await source.end();
  }
}

async function follow(service: Subject, source: postgres.Sql): Promise<void> {
  const { admin } = service.database;
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
}
