import type { Sql } from "../../../src/database/postgres/driver.ts";

/** A digest for each table and tenant, by `table tenant`; rows of tables without tenants by `table`. */
export type Digests = ReadonlyMap<string, string>;

/** Every name that a tenant column of the tests has. */
const TENANT_COLUMNS = ["tenant_id", "org_id", "org", "account_id", "company_no"];

/** Tables of the tests that have no tenant and are written by their own triggers. */
const WRITTEN_BY_TRIGGERS = ["trail"];

/** Without `simple` the driver (postgres.js 3.4.9) prepares no text that has no parameters. */
const PREPARED = { prepare: true, simple: false };

/**
 * Opens what digests the versions of all rows of the operator's schemas, by table and tenant: place
 * (`ctid`) and writing transaction (`xmin`), so that a write that changes nothing shows too. Postgres
 * never changes a version in place, so the values themselves need not be read: for a table of 8 GB that
 * took 30 s. The statement is written, and planned, once for each shape of the tables.
 */
export function openDigester(admin: Sql): () => Promise<Digests> {
  let shape: string | undefined;
  let statement: string | null = null;
  return async () => {
    const now = await readShape(admin);
    if (now !== shape) statement = await writeStatement(admin);
    shape = now;
    if (statement === null) return new Map();
    const rows = await admin.unsafe<{ key: string; tenant: string | null; digest: string }[]>(
      statement,
      [],
      PREPARED,
    );
    return new Map(
      rows.map(({ key, tenant, digest }) => [tenant === null ? key : `${key} ${tenant}`, digest]),
    );
  };
}

/** What is created after the catalogue itself; the embedded Postgres does not begin at 16384. */
const FIRST_OID = 12_000;

/** Describes the tables, columns and constraints there are: how many, and which transaction was the last. */
async function readShape(admin: Sql): Promise<string> {
  const [row] = await admin<{ shape: string }[]>`
    select concat_ws(' ',
      (select concat(count(*), '/', max(xmin::text::int8)) from pg_class
        where oid >= ${String(FIRST_OID)}::text::oid),
      (select concat(count(*), '/', max(xmin::text::int8)) from pg_attribute
        where attrelid >= ${String(FIRST_OID)}::text::oid and not attisdropped),
      (select concat(count(*), '/', max(xmin::text::int8)) from pg_constraint
        where oid >= ${String(FIRST_OID)}::text::oid)) as shape`;
  return row!.shape;
}

async function writeStatement(admin: Sql): Promise<string | null> {
  const [found] = await admin<{ statement: string | null }[]>`
    with recursive tenants (relid, level, expression) as (
      select c.oid, 0, case when exists (select from pg_attribute f join pg_attribute b
          on b.attrelid = f.attrelid and b.attname = 'branch'
          where f.attrelid = c.oid and f.attname = 'firm') then '@.firm || ''/'' || @.branch'
        else coalesce('@.' || quote_ident(a.attname) || '::text', 'null::text') end
      from pg_class c
      left join pg_attribute a on a.attrelid = c.oid and not a.attisdropped
        and a.attname = any (${`{${TENANT_COLUMNS}}`}::text::text[])
      where c.relkind = 'r'
        and c.relnamespace::regnamespace::text not in ('pg_catalog', 'information_schema', 'rowgate')
        and c.relpersistence <> 't'
        and c.relname <> all (${`{${WRITTEN_BY_TRIGGERS}}`}::text::text[])
      union all
      select f.conrelid, t.level + 1, format('(select %s from only %s where %s)',
        replace(t.expression, '@', 'p' || t.level), f.confrelid::regclass::text || ' p' || t.level,
        (select string_agg(format('%s.%I = @.%I', 'p' || t.level, b.attname, a.attname), ' and ')
          from unnest(f.conkey, f.confkey) k (own, other)
          join pg_attribute a on a.attrelid = f.conrelid and a.attnum = k.own
          join pg_attribute b on b.attrelid = f.confrelid and b.attnum = k.other))
      from tenants t
      join pg_constraint f on f.confrelid = t.relid and f.contype = 'f'
        and f.conrelid <> f.confrelid
      where t.expression <> 'null::text' and t.level < 3
    ),
    nearest as (
      select distinct on (relid) relid, replace(expression, '@', 't') as tenant
      from tenants order by relid, expression = 'null::text', level, expression
    )
    select string_agg(format(
      'select %L::text as key, %s as tenant, count(*) || '':'' || sum(hashtextextended(t.ctid::text || t.xmin::text, 0)) as digest from %s t group by 2',
      c.oid::regclass, n.tenant, c.oid::regclass), ' union all ') as statement
    from nearest n join pg_class c on c.oid = n.relid`;
  return found?.statement ?? null;
}

/** Names what differs, but for the rows of the tenants given. */
export function compareDigests(
  before: Digests,
  after: Digests,
  tenants: ReadonlySet<string>,
): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((key) =>
    before.get(key) !== after.get(key) && !tenants.has(key.split(" ").at(-1)!)
  );
}
