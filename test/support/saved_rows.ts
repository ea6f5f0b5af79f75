import type { Sql } from "../../src/database/postgres/driver.ts";

/** The rows of all tables at one moment. */
export interface SavedRows {
  /**
   * Writes them back, into the tables that were written since.
   * @throws {Error} when one of the tables was changed itself, or another one made
   */
  readonly restore: () => Promise<void>;
}

/** A table, as SQL. */
interface Table {
  readonly name: string;
  /** Those that are not generated. */
  readonly columns: string;
  /** Their values in a row called `saved`. */
  readonly values: string;
  /** All else that a test could change of the table. */
  readonly definition: string;
}

/** Reads all rows of a database of the tests, as its superuser. */
export async function saveRows(admin: Sql): Promise<SavedRows> {
  const tables = await listTables(admin);
  const saved = await readEach(admin, tables, "json_agg((kept.*)::text order by kept.ctid)::text");
  // As in the guard of the rows: Postgres never changes a version in place.
  const readVersions = () =>
    readEach(admin, tables, "sum(hashtextextended(kept.ctid::text || kept.xmin::text, 0))::text");
  let versions = await readVersions();
  return {
    async restore() {
      const changed = findChanged(tables, await listTables(admin));
      if (changed.length > 0) {
        throw new Error(`groups of tests share the tables that one changed: ${changed.join(", ")}`);
      }
      const now = await readVersions();
      const written = tables.filter(({ name }) => now.get(name) !== versions.get(name));
      if (written.length === 0) return;
      await admin.begin(async (transaction) => {
        // Without triggers and foreign keys.
        await transaction`set local session_replication_role = replica`;
        for (const table of written) {
          await transaction.unsafe(`delete from only ${table.name}`);
          await transaction.unsafe(writeInsert(table), [saved.get(table.name) ?? "[]"]);
        }
      });
      versions = await readVersions();
    },
  };
}

async function listTables(admin: Sql): Promise<Table[]> {
  return await admin<Table[]>`
    select c.oid::regclass::text as name,
      string_agg(quote_ident(a.attname), ', ' order by a.attnum)
        filter (where a.attgenerated = '') as columns,
      string_agg('(saved).' || quote_ident(a.attname), ', ' order by a.attnum)
        filter (where a.attgenerated = '') as values,
      concat_ws(' ', c.oid, c.relacl, c.relrowsecurity, c.relforcerowsecurity,
        string_agg(concat_ws(' ', a.attname, a.atttypid, a.atttypmod, a.attnotnull, a.attacl), ', '
          order by a.attnum),
        (select count(*) from pg_constraint where conrelid = c.oid),
        (select count(*) from pg_trigger where tgrelid = c.oid),
        (select count(*) from pg_policy where polrelid = c.oid),
        (select count(*) from pg_rewrite where ev_class = c.oid)) as definition
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relkind = 'r' and c.relpersistence <> 't'
      and c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema')
      and a.attnum > 0 and not a.attisdropped
    group by c.oid`;
}

function findChanged(before: readonly Table[], after: readonly Table[]): string[] {
  const definitions = new Map(after.map(({ name, definition }) => [name, definition]));
  const changed = before.filter(({ name, definition }) => definitions.get(name) !== definition);
  const known = new Set(before.map(({ name }) => name));
  const made = after.filter(({ name }) => !known.has(name));
  return [...changed, ...made].map(({ name }) => name);
}

/** Reads one text of each table, by its name. */
async function readEach(
  admin: Sql,
  tables: readonly Table[],
  expression: string,
): Promise<ReadonlyMap<string, string | null>> {
  const parts = tables.map(({ name }) =>
    `select '${name.replaceAll("'", "''")}' as name, ${expression} as value from only ${name} kept`
  );
  const rows = await admin.unsafe<{ name: string; value: string | null }[]>(
    parts.join(" union all "),
  );
  return new Map(rows.map(({ name, value }) => [name, value]));
}

function writeInsert({ name, columns, values }: Table): string {
  return `insert into ${name} (${columns}) overriding system value
    select ${values}
    from (
      select row_text::${name} as saved
      from json_array_elements_text($1::text::json) with ordinality as each (row_text, place)
      order by place offset 0
    ) as all_saved`;
}
