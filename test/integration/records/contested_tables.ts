import type { Sql } from "../../../src/database/postgres/driver.ts";

/** A table in which one row can be updated, and how its rows are identified. */
export interface ContestedTable {
  readonly name: string;
  readonly what: string;
}

/** One table for each way in which a single update has to find its row again. */
export const CONTESTED_TABLES: readonly ContestedTable[] = [
  { name: "keyed", what: "a table with a key" },
  { name: "keyless", what: "a table without a key" },
  { name: "parted", what: "a partitioned table with equal ctids" },
  { name: "unpinnable", what: "a table whose row version cannot be read" },
  { name: "lockable", what: "a table under row level security" },
  { name: "ruled", what: "a table with a rule that lets updates through" },
];

/** The setting that the policy of `lockable` reads. */
export const TENANT_SETTING = "app.tenant_id";

/**
 * Makes the tables, all alike: rows 1 and 2 of tenant 1 and row 3 of tenant 2, where the rows of
 * `parted` lie in a partition each, at the same place in it.
 */
export async function makeContestedTables(admin: Sql): Promise<void> {
  const columns = "tenant_id int4 not null, state text, note text, n int4 not null default 0";
  await admin.unsafe(`
    create table keyed (id int4 primary key, ${columns});
    create table keyless (id int4, ${columns});
    create table parted (id int4 primary key, ${columns}) partition by list (id);
    create table parted_1 partition of parted for values in (1);
    create table parted_2 partition of parted for values in (2);
    create table parted_rest partition of parted default;
    create table unpinnable (id int4 primary key, ${columns}, secret text);
    create table lockable (id int4 primary key, ${columns});
    create table ruled (id int4 primary key, ${columns});
    create rule kept as on update to ruled where old.n < 0 do instead nothing;
    alter table lockable enable row level security;
    create policy tenants on lockable
      using (tenant_id = nullif(current_setting('${TENANT_SETTING}', true), '')::int4);
    grant select on keyed, keyless, parted, lockable, ruled to rowgate_app;
    grant select (id, tenant_id, state, note, n) on unpinnable to rowgate_app;
    grant update (state, note, n) on keyed, keyless, parted, unpinnable, lockable, ruled to rowgate_app;
    notify rowgate_catalogue`);
}

/** Fills a table with its rows: 1 is open, 2 and 4 are shut, 3 is open and another tenant's. */
export async function fillContestedTable(admin: Sql, { name }: ContestedTable): Promise<void> {
  await admin.unsafe(`truncate ${name}; insert into ${name} (id, tenant_id, state) values
    (1, 1, 'open'), (2, 1, 'shut'), (3, 2, 'open'), (4, 1, 'shut')`);
}

/** Reads a table's rows as `id tenant state note n`, by id. */
export async function readContestedTable(
  admin: Sql,
  { name }: ContestedTable,
): Promise<readonly string[]> {
  const rows = await admin<{ line: string }[]>`
    select concat_ws(' ', id, tenant_id, state, coalesce(note, '-'), n) as line
    from ${admin(name)} order by id`;
  return rows.map((row) => row.line);
}
