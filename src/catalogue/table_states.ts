import type { Fragment, Sql } from "../postgres/driver.ts";

/**
 * Compiles the CTE `states`: the `relations` of the statement, with its `parts`, `unproven` and
 * `foreign_keys`, each with a hash of the role's rights and of the versions of all rows in Postgres's
 * own catalogue that its description depends on. Any change of such a row writes a new version with
 * another `xmin`. ANALYZE and VACUUM overwrite the statistics of a table in place, so they change no
 * state.
 *
 * `bit_xor` does not depend on the order of the rows. Each row is hashed with its number, so that two
 * never cancel out. Two things are not covered by the rows of a table: the printed name of a type
 * with a modifier, if the type is from an extension (built-in ones never change), and the function of
 * a trigger.
 *
 * Views are not covered, because whether their columns can be updated depends on other tables.
 * @see docs/decisions/0012-catalogue.md
 */
export function compileTableStates(sql: Sql): Fragment {
  return sql`states as materialized (
  select r.*, pg_catalog.hashtextextended((
      (${compileRights(sql)}), r.place, c.versions, a.versions, d.versions, w.versions, i.versions,
      g.versions, u.versions, y.versions, f.list::text)::text, 0) as state
  from relations r
  left join (
    select p.root, pg_catalog.bit_xor(pg_catalog.hashtextextended(c.xmin::text, c.oid::int8)) as versions
    from parts p join pg_catalog.pg_class c on c.oid = p.oid
    group by p.root
  ) c on c.root = r.oid
  left join (
    select a.attrelid, pg_catalog.bit_xor(pg_catalog.hashtextextended(
      a.xmin::text || case when a.atttypmod >= 0 and a.atttypid >= 16384
        then pg_catalog.format_type(a.atttypid, a.atttypmod) else '' end, a.attnum::int8)) as versions
    from relations r join pg_catalog.pg_attribute a on a.attrelid = r.oid
    where a.attnum > 0 or a.attacl is not null
    group by a.attrelid
  ) a on a.attrelid = r.oid
  left join (
    select d.objoid, pg_catalog.bit_xor(pg_catalog.hashtextextended(d.xmin::text, d.objsubid::int8))
      as versions
    from relations r join pg_catalog.pg_description d on d.objoid = r.oid
      and d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass
    group by d.objoid
  ) d on d.objoid = r.oid
  left join (
    select w.ev_class, pg_catalog.bit_xor(pg_catalog.hashtextextended(w.xmin::text, w.oid::int8))
      as versions
    from relations r join pg_catalog.pg_rewrite w on w.ev_class = r.oid
    group by w.ev_class
  ) w on w.ev_class = r.oid
  left join (
    select i.indrelid, pg_catalog.bit_xor(pg_catalog.hashtextextended(i.xmin::text, i.indexrelid::int8))
      as versions
    from relations r join pg_catalog.pg_index i on i.indrelid = r.oid
    group by i.indrelid
  ) i on i.indrelid = r.oid
  left join (
    select r.root, pg_catalog.bit_xor(pg_catalog.hashtextextended(
      pg_catalog.concat(o.nspname, '.', p.proname, ' ', g.xmin), g.oid::int8)) as versions
    from parts r join pg_catalog.pg_trigger g on g.tgrelid = r.oid and not g.tgisinternal
    join pg_catalog.pg_proc p on p.oid = g.tgfoid
    join pg_catalog.pg_namespace o on o.oid = p.pronamespace
    group by r.root
  ) g on g.root = r.oid
  left join (
    select u.root, pg_catalog.bit_xor(pg_catalog.hashtextextended(u.attname::text, 0)) as versions
    from unproven u
    group by u.root
  ) u on u.root = r.oid
  left join (
    select y.polrelid, pg_catalog.bit_xor(pg_catalog.hashtextextended(y.xmin::text, y.oid::int8))
      as versions
    from relations r join pg_catalog.pg_policy y on y.polrelid = r.oid
    group by y.polrelid
  ) y on y.polrelid = r.oid
  left join foreign_keys f on f.conrelid = r.oid
)`;
}

/**
 * Compiles a hash of the roles whose rights the role has; for a superuser, all roles. It uses a
 * function, whose answer is as old or new as those of the functions for rights.
 */
function compileRights(sql: Sql): Fragment {
  return sql`select pg_catalog.hashtextextended(pg_catalog.string_agg(
      case m.rolname when current_user then 'own ' else '' end || m.oid, ' ' order by m.oid), 0)
    from pg_catalog.pg_roles m where pg_catalog.pg_has_role(m.oid, 'USAGE')`;
}
