import { assertEquals } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import { createTestService, type TestService } from "../../support/service.ts";
import {
  CONTESTED_TABLES,
  fillContestedTable,
  makeContestedTables,
  TENANT_SETTING,
} from "../records/contested_tables.ts";
import { openOtherSession, race } from "../records/other_session.ts";

const PATH = "/integration/tables";

/** One whose update is held up at its commit, one that two bulks go through from either end. */
const OTHER_TABLES = `
  create table slow (id int4 primary key, tenant_id int4 not null, a text);
  insert into slow values (1, 1, 'old');
  create rule slow_all as on update to slow where old.id < 0 do instead nothing;
  create function wait_for_key() returns trigger language plpgsql as
    $$ begin perform pg_advisory_xact_lock(77); return null; end $$;
  create constraint trigger slow_late after update on slow deferrable initially deferred
    for each row execute function wait_for_key();
  grant select, update (a) on slow to rowgate_app;

  create table ring (id int4 primary key, tenant_id int4 not null, a int4, b int4, note text);
  insert into ring select n, 1, 1 + n / 3, 1 + n / 3, 'old' from generate_series(1, 20000) n;
  create index ring_backwards on ring (tenant_id, b, id desc);
  analyze ring;
  create function linger() returns trigger language plpgsql as
    $$ begin perform pg_sleep(0.2); return new; end $$;
  create trigger ring_linger before update on ring for each row execute function linger();
  grant select on ring to rowgate_app;
  grant update (note) on ring to rowgate_app;`;

describe("the audit of concurrent updates", () => {
  let service: TestService;

  before(async () => {
    service = await createTestService("real", {
      environment: { ROWGATE_TENANT_SETTING: TENANT_SETTING, ROWGATE_AUDIT: "on" },
    });
    await makeContestedTables(service.database.admin);
    await service.database.admin.unsafe(OTHER_TABLES);
  });
  after(() => service.close());
  beforeEach(async () => void await service.database.admin`truncate rowgate.audit`);

  const single = (table: string, body: unknown) =>
    service.send("PATCH", `${PATH}/${table}/records/single`, { body });

  async function counts(): Promise<string[]> {
    const rows = await service.database.admin<{ line: string }[]>`
      select concat_ws(' ', table_name, matched, updated) as line from rowgate.audit
      order by number`;
    return rows.map(({ line }) => line);
  }

  /** Ends the backends that wait for a lock. */
  const killBlocked = () =>
    service.database.admin`select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;

  const OVERTAKEN = { filters: { state: "open" }, fields: { note: "ours" } };
  for (const table of CONTESTED_TABLES) {
    const outcomes = [
      ["changes the row", `update ${table.name} set n = 5 where id = 1`, 200, 1],
      ["writes the same", `update ${table.name} set note = 'ours' where id = 1`, 200, 0],
      ["deletes the row", `update ${table.name} set state = 'shut' where id = 1`, 404],
      ["adds a row", `update ${table.name} set state = 'open', n = 1 where id in (1, 2)`, 409],
    ] as const;
    for (const [other, statement, status, updated] of outcomes) {
      it(`has one row or none when the other ${other} on ${table.what} [R23]`, async () => {
        const { admin } = service.database;
        await fillContestedTable(admin, table);
        const ours = () => single(table.name, OVERTAKEN);
        assertEquals((await race(admin, { statements: statement }, ours)).status, status);
        assertEquals(await counts(), updated === undefined ? [] : [`${table.name} 1 ${updated}`]);
      });
    }

    it(`has no row of a connection that died before the update on ${table.what} [R23]`, async () => {
      const { admin } = service.database;
      await fillContestedTable(admin, table);
      const session = await openOtherSession(admin);
      try {
        await session.run(`begin; select from ${table.name} where id = 1 for update`);
        const pending = single(table.name, OVERTAKEN);
        await session.awaitBlocked(1);
        await killBlocked();
        // A transaction that has not begun is tried again; a single statement is not.
        const usesTransaction = ["unpinnable", "ruled"].includes(table.name);
        if (usesTransaction) {
          await session.awaitBlocked(1);
          assertEquals(await counts(), []);
          await session.run("rollback");
        }
        assertEquals((await pending).status, usesTransaction ? 200 : 503);
        assertEquals(await counts(), usesTransaction ? [`${table.name} 1 1`] : []);
      } finally {
        await session.close();
      }
    });
  }

  it("has no row of a transaction that ended before its commit [R23]", async () => {
    const { admin } = service.database;
    const session = await openOtherSession(admin);
    try {
      await session.run("begin; select pg_advisory_xact_lock(77)");
      const pending = single("slow", { filters: { id: 1 }, fields: { a: "new" } });
      await session.awaitBlocked(1);
      await killBlocked();
      const { status } = await pending;
      assertEquals(status, 503);
      assertEquals(await counts(), []);
      assertEquals([...await admin`select a from slow`], [{ a: "old" }]);
    } finally {
      await session.close();
    }
  });

  /** Lets updates of the ring begin in one moment: until all of them wait, none gets at the table. */
  async function startTogether<T>(updates: readonly (() => Promise<T>)[]): Promise<readonly T[]> {
    const { admin } = service.database;
    let started: Promise<T[]> | undefined;
    await admin.begin(async (sql) => {
      await sql`lock table ring in share mode`;
      started = Promise.all(updates.map((update) => update()));
      for (let waiting = 0; waiting < updates.length;) {
        const [row] = await sql<[{ count: number }]>`
          select count(*)::int4 from pg_locks
          where relation = 'ring'::regclass and not granted`;
        waiting = row.count;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    });
    return await started!;
  }

  it("has one row for each of two bulk updates, one of them the victim of a deadlock [R23] [E38]", async () => {
    const { admin } = service.database;
    const bulk = (filters: unknown, note: string) =>
      service.send("PATCH", `${PATH}/ring/records/bulk`, { body: { filters, fields: { note } } });
    const isRetried = () =>
      service.observations.some((seen) => seen.kind === "retry" && seen.fault === "serialization");
    // On a busy machine they may miss each other.
    for (let round = 0; round < 20 && !isRetried(); round++) {
      await admin`truncate rowgate.audit`;
      const responses = await startTogether([
        () => bulk({ a: 1 }, `a ${round}`),
        () => bulk({ b: 1 }, `b ${round}`),
      ]);
      assertEquals(responses.map(({ status }) => status), [200, 200]);
      assertEquals(await counts(), ["ring 2 2", "ring 2 2"]);
    }
    assertEquals(isRetried(), true);
  });
});
