import type { Fragment, Sql } from "../database/postgres/driver.ts";

/**
 * Compiles the CTE `unproven`: the columns, by table and name, in which a row can be NULL although they
 * are NOT NULL: the constraint is not valid yet (from PostgreSQL 18 on), a child table does without it,
 * or a foreign table has it, where Postgres takes it on trust.
 * @see T81
 */
export function compileUnproven(sql: Sql): Fragment {
  return sql`unproven (root, attname) as materialized (
  select p.root, a.attname from parts p
  join pg_catalog.pg_class c on c.oid = p.oid and (p.oid <> p.root or c.relkind = 'f')
  join pg_catalog.pg_attribute a on a.attrelid = p.oid and a.attnum > 0 and not a.attisdropped
  where not a.attnotnull or c.relkind = 'f'
  union
  select p.root, a.attname from parts p
  join pg_catalog.pg_constraint n on n.conrelid = p.oid and n.contype = 'n' and not n.convalidated
  join pg_catalog.pg_attribute a on a.attrelid = p.oid and a.attnum = n.conkey[1]
)`;
}
