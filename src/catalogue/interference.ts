import type { Fragment, Sql } from "../postgres/driver.ts";

/**
 * Compiles the CTE `interference`: for each of the `changed` relations, what else takes part in an
 * update of its rows. It looks at the relation, its partitions and child tables, and at what is
 * beneath a view.
 *
 * - `early`: a trigger may skip a row instead of writing it; so may another server.
 * - `late`: a trigger may change a row after RETURNING has shown it, or a rule or another server may
 *   write something else than RETURNING shows.
 * - `redirected`: a trigger or rule of a view writes in place of Postgres.
 *
 * A row that moves to another partition is deleted from one and inserted into the other. The bits of
 * `tgtype`: 1 for each row, 2 before, 4 insert, 8 delete, 16 update, 64 instead.
 * @see T86, U64
 */
export function compileInterference(sql: Sql): Fragment {
  return sql`reach (root, oid) as (
  select r.oid, r.oid from changed r where r.relkind in ('r', 'p', 'v')
  union
  select b.root, n.oid from reach b cross join lateral (
    select h.inhrelid from pg_catalog.pg_inherits h where h.inhparent = b.oid
    union all
    select d.refobjid from pg_catalog.pg_rewrite w
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      and d.objid = w.oid and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
    where w.ev_class = b.oid and w.ev_type = '1'
  ) n (oid)
),
triggers as (
  select b.root, g.tgtype from reach b
  join pg_catalog.pg_class c on c.oid = b.oid
  join pg_catalog.pg_trigger g on g.tgrelid = b.oid and not g.tgisinternal and g.tgenabled <> 'D'
    and g.tgtype & case when c.relispartition or c.relkind = 'p' then 28 else 16 end <> 0
  join pg_catalog.pg_proc p on p.oid = g.tgfoid
  join pg_catalog.pg_namespace o on o.oid = p.pronamespace
  where not (o.nspname = 'rowgate' and p.proname ~ '^changes_[0-9]{1,10}')
),
interference as (
  select b.root, pg_catalog.bool_or(c.relkind = 'f') or coalesce(t.early, false) as early,
    pg_catalog.bool_or(c.relkind = 'f' or w.oid is not null) or coalesce(t.late, false) as late,
    coalesce(t.redirected, false) or pg_catalog.bool_or(w.oid is not null) as redirected
  from reach b
  join pg_catalog.pg_class c on c.oid = b.oid
  left join pg_catalog.pg_rewrite w on w.ev_class = b.oid and w.ev_type = '2'
  left join (
    select t.root, pg_catalog.bool_or(t.tgtype & 3 = 3) as early,
      pg_catalog.bool_or(t.tgtype & 66 = 0) as late, pg_catalog.bool_or(t.tgtype & 64 = 64) as redirected
    from triggers t group by t.root
  ) t on t.root = b.root
  group by b.root, t.early, t.late, t.redirected
)`;
}
