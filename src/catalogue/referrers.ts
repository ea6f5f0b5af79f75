import type { Fragment, Sql } from "../database/postgres/driver.ts";

/** A foreign key that changes or deletes its rows when a row that they refer to is deleted. */
export interface FoundReferrer {
  /** Schema and name of the table with the key. */
  readonly schema: string;
  readonly table: string;
  readonly columns: readonly string[];
  readonly targetColumns: readonly string[];
  /** What becomes of the rows: they are deleted, or their columns are set to NULL or to their defaults. */
  readonly action: "delete" | "null" | "default";
  /** The default that each column is set to, as Postgres prints it; null for one that is not set. */
  readonly defaults: readonly (string | null)[];
  /** True if the table has a column with the name of the tenant column. */
  readonly hasTenant: boolean;
  /** True if other tables have such keys to it in turn. */
  readonly leadsOn: boolean;
}

/**
 * Compiles the CTE `referrers`: of each of the `relations`, the foreign keys with an action on delete that
 * refer to it, to a part of it, or to what is beneath a view. Where a column has no default, it is set to
 * NULL, and the row then refers to none.
 * @see DE11
 */
export function compileReferrers(sql: Sql, tenantColumn: string): Fragment {
  return sql`referrers as materialized (
  select b.root, pg_catalog.json_agg(pg_catalog.json_build_object(
    'schema', s.nspname, 'table', o.relname, 'columns', k.own, 'targetColumns', k.target,
    'action', case when f.confdeltype = 'c' then 'delete' when f.confdeltype = 'd' and k.given
      then 'default' else 'null' end, 'defaults', k.defaults,
    'hasTenant', exists (select from pg_catalog.pg_attribute t
      where t.attrelid = o.oid and t.attname = ${tenantColumn}::text and not t.attisdropped),
    'leadsOn', exists (select from pg_catalog.pg_constraint g
      where g.confrelid = o.oid and g.conrelid <> o.oid and g.contype = 'f'
        and g.confdeltype in ('c', 'n', 'd')))
    order by s.nspname, o.relname, f.conname) as list
  from reach b
  join pg_catalog.pg_constraint f on f.confrelid = b.oid and f.contype = 'f' and f.conparentid = 0
    and f.confdeltype in ('c', 'n', 'd')
  join pg_catalog.pg_class o on o.oid = f.conrelid
  join pg_catalog.pg_namespace s on s.oid = o.relnamespace
  cross join lateral (
    select pg_catalog.json_agg(a.attname order by u.place) as own,
      pg_catalog.json_agg(t.attname order by u.place) as target,
      pg_catalog.bool_and(d.adbin is not null or not i.set) as given,
      pg_catalog.json_agg(case when i.set then pg_catalog.pg_get_expr(d.adbin, d.adrelid) end
        order by u.place) as defaults
    from rows from (pg_catalog.unnest(f.conkey), pg_catalog.unnest(f.confkey))
      with ordinality u (own, target, place)
    join pg_catalog.pg_attribute a on a.attrelid = f.conrelid and a.attnum = u.own
    join pg_catalog.pg_attribute t on t.attrelid = f.confrelid and t.attnum = u.target
    cross join lateral (select coalesce(nullif(pg_catalog.to_jsonb(f) -> 'confdelsetcols', 'null')
      @> pg_catalog.to_jsonb(u.own), true) as set) i
    left join pg_catalog.pg_attrdef d on d.adrelid = f.conrelid and d.adnum = u.own
  ) k
  group by b.root
)`;
}
