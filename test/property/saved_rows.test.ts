import { assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import { createTestDatabase, DATABASE_KINDS, type TestDatabase } from "../support/database.ts";
import { type SavedRows, saveRows } from "../support/saved_rows.ts";

/** Tables with all types, names that need quotes, triggers, foreign keys, partitions, generated columns. */
const TABLES = [
  "deals",
  "everything",
  '"order"',
  '"weird name"',
  "frozen",
  "bookings",
  "guests",
  "invoices",
  "measurements",
  "measurements_2024",
  "countries",
];

for (const kind of DATABASE_KINDS) {
  describe(`rows that are saved (${kind})`, () => {
    let test: TestDatabase;
    let saved: SavedRows;
    const run = (text: string) => test.admin.unsafe(text);
    beforeAll(async () => {
      test = await createTestDatabase(kind, "fixture", { served: true });
      saved = await saveRows(test.admin);
    });
    afterAll(() => test.drop());

    const read = async () => {
      const texts: Record<string, unknown> = {};
      for (const table of TABLES) {
        texts[table] = await run(`select (kept.*)::text as row from ${table} kept order by 1`);
      }
      return texts;
    };
    const restore = () => saved.restore();

    it("are restored, whatever was written", async () => {
      const before = await read();
      await restore();
      assertEquals(await read(), before);
      await run(`
        update deals set title = 'x', tags = null where tenant_id = 1;
        delete from everything;
        update "order" set t = 0;
        update "weird name" set "bad-col" = null;
        update frozen set name = 'x' where mode = 'touch';
        delete from bookings; delete from guests where id = 1;
        insert into invoices (id, tenant_id, customer, net) overriding system value
          values (9000, 1, 'new', 1);
        update measurements set taken_at = taken_at + interval '1 year' where id = 1;
        insert into countries values ('ZZ', 'new', 1)`);
      const after = await read();
      for (const table of TABLES) assertNotEquals(after[table], before[table], table);
      await restore();
      assertEquals(await read(), before);
      await run("delete from deals");
      await restore();
      assertEquals(await read(), before);
    });

    it("are not, and it is said, when their table is another or a new one is there", async () => {
      await run("create table made (id int4)");
      await assertRejects(() => restore(), Error, "the tables that one changed: made");
      await run("drop table made");
      await restore();
      const [notes] = await run(
        "select relrowsecurity as secured from pg_class where oid = 'notes'::regclass",
      );
      for (
        const change of [
          "alter table notes add column more int4",
          "alter table notes drop column more",
          "grant insert on notes to rowgate_app",
          `alter table notes ${notes?.["secured"] ? "disable" : "enable"} row level security`,
        ]
      ) {
        const known = await saveRows(test.admin);
        await run(change);
        await assertRejects(() => known.restore(), Error, "one changed: notes");
      }
    });
  });
}
