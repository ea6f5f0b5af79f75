import type { Fragment, Sql } from "../database/postgres/driver.ts";

/**
 * Compiles the CTE `interference`: for each of the `relations`, what else takes part in an
 * update, an insert or a delete of its rows. It looks at the relation, its partitions and child tables,
 * and at what is beneath a view.
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
  select r.oid, r.oid from relations r where r.relkind in ('r', 'p', 'v')
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
writes (operation, rule, event) as (
  values ('update', '2'::"char", 16), ('insert', '3'::"char", 4), ('delete', '4'::"char", 8)
),
triggers as (
  select b.root, g.tgtype, g.tgtype & 12 | case
    when g.tgtype & case when c.relispartition or c.relkind = 'p' then 28 else 16 end <> 0
    then 16 else 0 end as events
  from reach b
  join pg_catalog.pg_class c on c.oid = b.oid
  join pg_catalog.pg_trigger g on g.tgrelid = b.oid and not g.tgisinternal and g.tgenabled <> 'D'
    and g.tgtype & 28 <> 0
  join pg_catalog.pg_proc p on p.oid = g.tgfoid
  join pg_catalog.pg_namespace o on o.oid = p.pronamespace
  where not (o.nspname = 'rowgate' and p.proname ~ '^changes_[0-9]{1,10}')
),
interference as (
  select b.root, s.operation, pg_catalog.bool_or(c.relkind = 'f') or coalesce(t.early, false) as early,
    pg_catalog.bool_or(c.relkind = 'f' or w.oid is not null) or coalesce(t.late, false) as late,
    coalesce(t.redirected, false) or pg_catalog.bool_or(w.oid is not null) as redirected
  from reach b
  join pg_catalog.pg_class c on c.oid = b.oid
  cross join writes s
  left join pg_catalog.pg_rewrite w on w.ev_class = b.oid and w.ev_type = s.rule
  left join (
    select t.root, s.operation, pg_catalog.bool_or(t.tgtype & 3 = 3) as early,
      pg_catalog.bool_or(t.tgtype & 66 = 0) as late, pg_catalog.bool_or(t.tgtype & 64 = 64) as redirected
    from triggers t join writes s on t.events & s.event <> 0
    group by t.root, s.operation
  ) t on t.root = b.root and t.operation = s.operation
  group by b.root, s.operation, t.early, t.late, t.redirected
)`;
}

/** The bits of `pg_relation_is_updatable`, the right, and the rules of each operation. */
const WRITES = {
  inserts: (sql: Sql) => ({
    named: sql`'insert'`,
    rule: sql`'3'`,
    bit: sql`8`,
    granted: sql`pg_catalog.has_any_column_privilege(r.oid, 'INSERT')`,
  }),
  deletes: (sql: Sql) => ({
    named: sql`'delete'`,
    rule: sql`'4'`,
    bit: sql`16`,
    granted: sql`pg_catalog.has_table_privilege(r.oid, 'DELETE')`,
  }),
} as const;

/** Compiles what an insert into the relation `r`, or a delete from it, has to reckon with, as JSON. */
export function compileWriting(sql: Sql, operation: keyof typeof WRITES): Fragment {
  const { named, rule, bit, granted } = WRITES[operation](sql);
  return sql`select pg_catalog.json_build_object(
        'granted', ${granted},
        'possible', case r.relkind when 'v'
          then pg_catalog.pg_relation_is_updatable(r.oid, false) & ${bit} = ${bit}
            and not coalesce(pg_catalog.bool_or(o.redirected), false)
          else r.relkind in ('r', 'p') end,
        'hasRewriteRules', exists (select from pg_catalog.pg_rewrite w
          where w.ev_class = r.oid and w.ev_type = ${rule} and r.relkind in ('r', 'p')),
        'early', coalesce(pg_catalog.bool_or(o.early), false),
        'late', coalesce(pg_catalog.bool_or(o.late), false))
      from interference o where o.root = r.oid and o.operation = ${named}`;
}

/**
 * Compiles the foreign keys of the tables beneath the view `r` as JSON; `[]` for a table. A view has the
 * columns of a key under the same names, or it may have them under others: then `candidates` are its
 * columns of the same types that no column beneath has the name of.
 * @see T85
 */
export function compileKeysBeneath(sql: Sql, tenantColumn: string): Fragment {
  return sql`select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
      'schema', s.nspname, 'target', o.relname, 'columns', k.own, 'targetColumns', k.target,
      'holds', false, 'ofPeriods', coalesce((pg_catalog.to_jsonb(f) ->> 'conperiod')::bool, false),
      'hasTenant', exists (select from pg_catalog.pg_attribute t
        where t.attrelid = o.oid and t.attname = ${tenantColumn}::text and not t.attisdropped),
      'isNamed', k.named, 'candidates', coalesce((
        select pg_catalog.json_agg(v.attname order by v.attnum)
        from pg_catalog.pg_attribute v
        where v.attrelid = r.oid and v.attnum > 0 and v.atttypid = any(k.types) and not exists (
          select from pg_catalog.pg_attribute a where a.attrelid = b.oid and a.attname = v.attname)
      ), '[]')) order by f.oid), '[]')
    from reach b
    join pg_catalog.pg_constraint f on f.conrelid = b.oid and f.contype = 'f' and f.conparentid = 0
    join pg_catalog.pg_class o on o.oid = f.confrelid
    join pg_catalog.pg_namespace s on s.oid = o.relnamespace
    cross join lateral (
      select pg_catalog.json_agg(a.attname order by u.place) as own,
        pg_catalog.json_agg(t.attname order by u.place) as target,
        pg_catalog.array_agg(a.atttypid) as types, pg_catalog.bool_and(v.attnum is not null) as named,
        pg_catalog.bool_or(exists (
          select from reach e
          join pg_catalog.pg_rewrite w on w.ev_class = e.oid and w.ev_type = '1'
          join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
            and d.objid = w.oid and d.refobjid = b.oid and d.refobjsubid = u.own
          where e.root = r.oid)) as used
      from rows from (pg_catalog.unnest(f.conkey), pg_catalog.unnest(f.confkey))
        with ordinality u (own, target, place)
      join pg_catalog.pg_attribute a on a.attrelid = f.conrelid and a.attnum = u.own
      join pg_catalog.pg_attribute t on t.attrelid = f.confrelid and t.attnum = u.target
      left join pg_catalog.pg_attribute v on v.attrelid = r.oid and v.attname = a.attname
        and v.atttypid = a.atttypid
    ) k
    where r.relkind = 'v' and b.root = r.oid and b.oid <> r.oid and k.used`;
}
