import { assert, assertEquals, assertRejects } from "@std/assert";
import { after, before, beforeEach, describe, it } from "@std/testing/bdd";
import type { Step } from "../../../src/database/postgres/database.ts";
import { DatabaseError } from "../../../src/database/postgres/database_error.ts";
import { toApiError } from "../../../src/records/database_status.ts";
import { createTestDatabase, DATABASE_KINDS } from "../../support/database.ts";
import type { TestDatabase } from "../../support/database.ts";
import { createRaiseInC } from "../../support/raise_in_c.ts";
import { openSubject } from "./open_subject.ts";
import type { Subject } from "./open_subject.ts";

for (const kind of DATABASE_KINDS) {
  describe(`transact on ${kind}`, () => {
    let test: TestDatabase;
    let subject: Subject;

    before(async () => {
      test = await createTestDatabase(kind, "empty");
      await test.admin.unsafe(`
        create table places (id int4 primary key, name text,
          seat int4 constraint one_seat unique deferrable initially deferred)`);
      subject = openSubject(test, { lockTimeoutMs: 200, statementTimeoutMs: 1000 });
    });
    after(async () => {
      await subject.database.close(1000);
      await test.drop();
    });
    beforeEach(async () => {
      await test.admin.unsafe(
        "truncate places; insert into places select n, 'old', n from generate_series(1, 9) n",
      );
    });

    async function names(): Promise<string[]> {
      const rows = await test.admin<
        { name: string }[]
      >`select distinct name from places order by name`;
      return rows.map((row) => row.name);
    }

    it("keeps all statements and gives the last one's rows", async () => {
      const rows = await subject.database.transact([
        (sql) => sql`update places set name = ${"new"}::text where id <= 5`,
        (sql) => sql`update places set name = ${"new"}::text where id > 5 returning id`,
      ], { rollback: false });
      assertEquals(rows.length, 4);
      assertEquals(await names(), ["new"]);
    });

    it("undoes everything with tx=rollback, and still gives the rows [U45]", async () => {
      const rows = await subject.database.transact([
        (sql) => sql`update places set name = ${"new"}::text returning name`,
      ], { rollback: true });
      assertEquals([rows.length, rows[0]?.name], [9, "new"]);
      assertEquals(await names(), ["old"]);
    });

    it("checks deferred constraints, kept or undone [U45]", async () => {
      for (const rollback of [true, false]) {
        const error = await assertRejects(() =>
          subject.database.transact([
            (sql) => sql`update places set seat = 1, name = ${"new"}::text where id = 2`,
          ], { rollback }), DatabaseError);
        assertEquals(toApiError(error).status, 409);
        assertEquals(await names(), ["old"]);
      }
    });

    it("undoes what stood before a failure, and is ready for the next", async () => {
      const error = await assertRejects(() =>
        subject.database.transact([
          (sql) => sql`update places set name = ${"new"}::text`,
          (sql) => sql`select ${"x"}::text::int4`,
        ], { rollback: false }), DatabaseError);
      assertEquals(error.kind, "value");
      assertEquals(await names(), ["old"]);
      await subject.database.transact([(sql) => sql`select 1`], { rollback: false });
      assertEquals(await names(), ["old"]);
    });

    it("gives a group the rows before the step that failed, and nothing if that was the first [U56]", async () => {
      const taken: unknown[] = [];
      const take = (rows: readonly unknown[]) => void taken.push(rows.length);
      const good: Step = (sql) => sql`select id from places where id = ${"1"}::int4`;
      const bad: Step = (sql) => sql`select ${"x"}::text::int4`;
      for (const steps of [[good, good, bad], [bad, good], [bad]]) {
        await assertRejects(
          () => subject.database.transact([good, { steps, take }], { rollback: false }),
          DatabaseError,
        );
      }
      assertEquals(taken, [2]);
    });

    it("undoes what stood before a statement that cannot be compiled", async () => {
      await assertRejects(() =>
        subject.database.transact([
          (sql) => sql`update places set name = ${"new"}::text`,
          () => {
            throw new RangeError("no such plan");
          },
        ], { rollback: false }), RangeError);
      assertEquals(await names(), ["old"]);
      await subject.database.run((sql) => sql`update places set name = ${"after"}::text`, {
        write: true,
      });
      assertEquals(await names(), ["after"]);
    });

    it("lets no other statement into its transaction [D5]", async () => {
      // A mark that ends with the transaction: a statement that sees it runs inside it.
      const transactions = Array.from({ length: 20 }, (_, index) =>
        subject.database.transact([
          (sql) => sql`select set_config('rowgate.mark', ${String(index)}, true)`,
          (sql) =>
            sql`update places set name = ${"inside"}::text where id = ${
              String(index % 9 + 1)
            }::text::int4`,
          (sql) => sql`select current_setting('rowgate.mark', true) as mark`,
        ], { rollback: index % 2 === 0 }));
      const others = Array.from(
        { length: 200 },
        () =>
          subject.database.run<{ mark: string | null }>(
            (sql) => sql`select nullif(current_setting('rowgate.mark', true), '') as mark`,
            { write: false },
          ),
      );
      const marks = (await Promise.all(others)).map((rows) => rows[0]?.mark);
      assertEquals(new Set(marks), new Set([null]));
      const seen = (await Promise.all(transactions)).map((rows) => rows[0]?.mark);
      assertEquals(seen, seen.map((_, index) => String(index)));
    });
  });
}

describe("transact over locks and broken connections", () => {
  let test: TestDatabase;
  let subject: Subject;

  before(async () => {
    test = await createTestDatabase("real", "empty");
    await test.admin.unsafe(
      "create table places (id int4 primary key, name text); insert into places values (1, 'old')",
    );
    subject = openSubject(test, { lockTimeoutMs: 200, statementTimeoutMs: 1000 });
  });
  after(async () => {
    await subject.database.close(1000);
    await test.drop();
  });

  async function name(): Promise<unknown> {
    const [row] = await test.admin`select name from places`;
    return row?.name;
  }

  it("ends at the lock timeout, and is undone [E39]", async () => {
    await test.admin.begin(async (admin) => {
      await admin`select from places for update`;
      const error = await assertRejects(() =>
        subject.database.transact([
          (sql) => sql`update places set name = ${"new"}::text`,
        ], { rollback: false }), DatabaseError);
      assertEquals([toApiError(error).status, toApiError(error).headers["Retry-After"]], [
        503,
        "1",
      ]);
    });
    assertEquals(await name(), "old");
  });

  it("begins again when its connection breaks before the commit, and keeps nothing of a rollback [DB15] [CO10]", async () => {
    let attempts = 0;
    const rows = await subject.database.transact([
      (sql) =>
        attempts++ === 0 ? sql`select pg_terminate_backend(pg_backend_pid())` : sql`select 1`,
      (sql) => sql`update places set name = ${"new"}::text returning name`,
    ], { rollback: true });
    assertEquals([rows[0]?.name, attempts], ["new", 2]);
    assertEquals(await name(), "old");
  });

  it("says that nothing was changed when its connection breaks again [CO10]", async () => {
    const error = await assertRejects(() =>
      subject.database.transact([
        (sql) => sql`update places set name = ${"new"}::text`,
        (sql) => sql`select pg_terminate_backend(pg_backend_pid())`,
      ], { rollback: false }), DatabaseError);
    assertEquals([toApiError(error).status, toApiError(error).headers["Retry-After"]], [503, "1"]);
    assert(toApiError(error).message.includes("nothing was changed"));
    assertEquals(await name(), "old");
    const rows = await subject.database.transact([(sql) => sql`select name from places`], {
      rollback: false,
    });
    assertEquals(rows[0]?.name, "old");
  });

  it("is undone when the disk is full", async () => {
    // 53100 is what Postgres says when the disk is full; the connection lives on.
    await createRaiseInC(test);
    const error = await assertRejects(() =>
      subject.database.transact([
        (sql) => sql`update places set name = ${"new"}::text`,
        (sql) => sql`select public.raise_in_c('53100')`,
      ], { rollback: false }), DatabaseError);
    assertEquals(toApiError(error).status, 503);
    assertEquals(await name(), "old");
  });

  it("leaves no transaction open [D5]", async () => {
    const open = await test.admin`
      select from pg_stat_activity
      where datname = current_database() and application_name = 'rowgate' and xact_start is not null`;
    assertEquals(open.length, 0);
  });
});
