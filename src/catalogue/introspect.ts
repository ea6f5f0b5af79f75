import type { PendingQuery, Sql } from "../database/postgres/driver.ts";
import { printArray } from "../basics/text/array_text.ts";
import { compileInterference, compileKeysBeneath, compileWriting } from "./interference.ts";
import type { Policy } from "./policy.ts";
import { compileRowSecurity } from "./read_row_security.ts";
import { compileReadable } from "./readable_text.ts";
import { compileReferrers } from "./referrers.ts";
import { compileUnproven } from "./unproven.ts";
import { compileTimeZone } from "./time_zone.ts";

/** What to introspect. */
export interface IntrospectOptions {
  /** The schemas that are exposed; the tables of the first are called by their names alone. */
  readonly schemas: readonly string[];
  /** Name of the tenant column, unless the policy gives another. */
  readonly tenantColumn: string;
  readonly policy: Policy;
  /** The setting with the tenant that policies read; null: none is made; left out: policies are not read. */
  readonly tenantSetting?: string | null | undefined;
  /** The time zone of columns without zone; left out: the database's. */
  readonly timeZone?: string | undefined;
}

/** The one row of a reading. */
export interface ReadingRow {
  readonly digest: string;
  /** Null if the digest is the known one. */
  readonly reading: string | null;
}

/**
 * Compiles the one statement that reads the schemas for the current role: the tables that have the
 * tenant column or that the policy names, their columns, rights, keys and types. Its row has the JSON
 * text of an `Introspection`, unless its digest is the `known` one. It needs only the right CONNECT.
 *
 * Operators are those of the default operator class of a type, in whichever schema they are, for all types
 * at once. They are also compared by name: hstore sorts by `#<#`, and has no `<` for a filter.
 * The search path is empty until the statement ends: policies are printed with schemas.
 * @see docs/specification/tables-and-fields.md, docs/decisions/0012-catalogue.md
 */
export function introspect(
  sql: Sql,
  { schemas, tenantColumn, policy }: IntrospectOptions,
  known: string | undefined,
): PendingQuery<ReadingRow[]> {
  const named = printArray([...policy.tables.keys()]);
  const credentials = printArray(policy.credentialTables.map((name) => name.toLowerCase()));
  return sql`
with recursive "$path" as materialized (select pg_catalog.set_config('search_path', '', true) "$made"),
spaces as materialized (
  select n.oid, n.nspname, wanted.place from unnest(${printArray(schemas)}::text::text[])
    with ordinality wanted (name, place)
  join pg_catalog.pg_namespace n on n.nspname = wanted.name
    and pg_catalog.has_schema_privilege(n.oid, 'USAGE')
),
relations as materialized (
  select c.oid, c.relname, c.relkind, s.nspname, s.place, k.names
  from spaces s
  join pg_catalog.pg_class c on c.relnamespace = s.oid and not c.relispartition
  cross join lateral (select array[pg_catalog.concat(s.nspname, '.', c.relname),
    case s.place when 1 then c.relname::text
      else pg_catalog.concat(s.nspname, '_', c.relname) end] as names) k
  where (
      (c.relkind in ('r', 'p', 'v', 'm', 'f') and k.names && ${named}::text::text[])
      or (c.relkind in ('r', 'p') and exists (
        select from pg_catalog.pg_attribute a
        where a.attrelid = c.oid and a.attname = ${tenantColumn}::text and not a.attisdropped))
    )
),
parts (root, oid) as (
  select r.oid, r.oid from relations r
  union
  select p.root, h.inhrelid from parts p
  join pg_catalog.pg_inherits h on h.inhparent = p.oid
),
${compileUnproven(sql)},
foreign_keys as materialized (
  select f.conrelid, pg_catalog.json_agg(pg_catalog.json_build_object(
    'schema', s.nspname, 'target', o.relname, 'columns', k.own, 'targetColumns', k.target,
    'holds', f.convalidated and not p.periods, 'ofPeriods', p.periods,
    'hasTenant', exists (select from pg_catalog.pg_attribute t
      where t.attrelid = o.oid and t.attname = ${tenantColumn}::text and not t.attisdropped))
    order by f.conname) as list
  from relations r
  join pg_catalog.pg_constraint f on f.conrelid = r.oid and f.contype = 'f' and f.conparentid = 0
  join pg_catalog.pg_class o on o.oid = f.confrelid
  join pg_catalog.pg_namespace s on s.oid = o.relnamespace
  cross join lateral (
    select coalesce((pg_catalog.to_jsonb(f) ->> 'conperiod')::bool, false) as periods) p
  cross join lateral (
    select pg_catalog.json_agg(a.attname order by u.place) as own,
      pg_catalog.json_agg(b.attname order by u.place) as target
    from rows from (pg_catalog.unnest(f.conkey), pg_catalog.unnest(f.confkey))
      with ordinality u (own, target, place)
    join pg_catalog.pg_attribute a on a.attrelid = f.conrelid and a.attnum = u.own
    join pg_catalog.pg_attribute b on b.attrelid = f.confrelid and b.attnum = u.target
  ) k
  group by f.conrelid
),
attributes as materialized (
  select a.*, r.relkind from relations r
  join pg_catalog.pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
), ${compileInterference(sql)}, ${compileReferrers(sql, tenantColumn)}, engines as (
  select p.root, pg_catalog.json_agg(distinct coalesce(m.amname, '') order by coalesce(m.amname, ''))
    as list
  from relations r
  join parts p on p.root = r.oid and r.relkind in ('r', 'p')
  join pg_catalog.pg_class c on c.oid = p.oid and c.relkind in ('r', 'f')
  left join pg_catalog.pg_am m on m.oid = c.relam
  group by p.root
  having pg_catalog.bool_or(c.relam <> 2)
),
types (oid) as (
  select a.atttypid from attributes a
  union
  select beneath.oid from types
  join pg_catalog.pg_type t on t.oid = types.oid
  left join pg_catalog.pg_type e on e.oid = t.typelem and e.typarray = t.oid
  cross join lateral (values (nullif(t.typbasetype, 0)), (e.oid)) beneath (oid)
  where beneath.oid is not null
),
operators as (
  select o.opcintype as type, q.oprname as name, n.nspname as schema
  from pg_catalog.pg_opclass o
  join pg_catalog.pg_am m on m.oid = o.opcmethod
  join pg_catalog.pg_amop p on p.amopfamily = o.opcfamily and p.amoplefttype = o.opcintype
    and p.amoprighttype = o.opcintype
  join pg_catalog.pg_operator q on q.oid = p.amopopr
    and (m.amname, p.amopstrategy, q.oprname) in (('btree', 1, '<'), ('btree', 3, '='), ('hash', 1, '='))
  join pg_catalog.pg_namespace n on n.oid = q.oprnamespace
    and pg_catalog.has_schema_privilege(n.oid, 'USAGE')
  where o.opcdefault
),
comparable (type, equality, ordered, schema) as materialized (
  select found.type, pg_catalog.bool_or(found.name = '='), pg_catalog.bool_or(found.name = '<'),
    pg_catalog.min(found.schema)
  from (
    select o.type, o.name, o.schema from operators o
    union all
    select b.castsource, o.name, o.schema from operators o
    join pg_catalog.pg_cast b on b.casttarget = o.type and b.castmethod = 'b'
      and b.castcontext = 'i'
    where not exists (select from operators own where own.type = b.castsource)
  ) found (type, name, schema)
  group by found.type
  having pg_catalog.min(found.schema) = pg_catalog.max(found.schema)
),
described_types as (
  select t.oid, pg_catalog.json_build_object(
    'schema', n.nspname, 'name', t.typname, 'kind', t.typtype, 'category', t.typcategory,
    'base', nullif(t.typbasetype, 0)::text, 'modifier', t.typtypmod,
    'modified', case when t.typtypmod >= 0
      then pg_catalog.format_type(t.typbasetype, t.typtypmod) end,
    'notNull', t.typnotnull, 'hasDefault', t.typdefault is not null, 'element', e.oid::text,
    'labels', (select pg_catalog.json_agg(l.enumlabel order by l.enumsortorder)
      from pg_catalog.pg_enum l where l.enumtypid = t.oid),
    'equality', coalesce(k.equality, false), 'order', coalesce(k.ordered, false),
    'operators', nullif(k.schema, 'pg_catalog')) as description
  from types
  join pg_catalog.pg_type t on t.oid = types.oid
  join pg_catalog.pg_namespace n on n.oid = t.typnamespace
  left join pg_catalog.pg_type e on e.oid = t.typelem and e.typarray = t.oid
  left join comparable k on k.type = case t.typtype
    when 'e' then 'pg_catalog.anyenum'::pg_catalog.regtype
    when 'r' then 'pg_catalog.anyrange'::pg_catalog.regtype
    when 'm' then 'pg_catalog.anymultirange'::pg_catalog.regtype
    else t.oid end
),
described_columns as (
  select a.attrelid, pg_catalog.json_agg(pg_catalog.json_build_object(
    'number', a.attnum, 'name', a.attname, 'type', a.atttypid::text, 'modifier', a.atttypmod,
    'modified', case when a.atttypmod >= 0
      then pg_catalog.format_type(a.atttypid, a.atttypmod) end,
    'notNull', a.attnotnull and u.root is null, 'generated', a.attgenerated <> '', 'identity', a.attidentity = 'a',
    'mandatory', a.attnotnull, 'hasDefault', a.atthasdef or a.attidentity <> '',
    'select', pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'SELECT'),
    'update', pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'UPDATE') and case a.relkind
      when 'v' then pg_catalog.pg_column_is_updatable(a.attrelid, a.attnum, false) else true end,
    'insert', pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'INSERT') and case a.relkind
      when 'v' then pg_catalog.pg_column_is_updatable(a.attrelid, a.attnum, false) else true end,
    'deterministic', coalesce(k.collisdeterministic, true),
    'comment', d.description) order by a.attnum) as list
  from attributes a
  left join unproven u on u.root = a.attrelid and u.attname = a.attname
  left join pg_catalog.pg_collation k on k.oid = a.attcollation
  left join pg_catalog.pg_description d on d.objoid = a.attrelid
    and d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objsubid = a.attnum
  group by a.attrelid
),
described_tables as (
  select r.place, r.relname, pg_catalog.json_build_object(
    'schema', r.nspname, 'name', r.relname, 'kind', r.relkind, 'comment', d.description,
    'pinnable', case when r.relkind in ('r', 'p') then
      pg_catalog.has_column_privilege(r.oid, 'ctid', 'SELECT')
      and pg_catalog.has_column_privilege(r.oid, 'xmin', 'SELECT')
      and pg_catalog.has_column_privilege(r.oid, 'tableoid', 'SELECT') else false end,
    'hasRewriteRules', exists (select from pg_catalog.pg_rewrite w
      where w.ev_class = r.oid and w.ev_type = '2' and r.relkind in ('r', 'p')),
    'updatable', case r.relkind when 'v'
      then pg_catalog.pg_relation_is_updatable(r.oid, false) & 4 = 4 and not x.redirected
      else r.relkind in ('r', 'p') end,
    'early', coalesce(x.early, false), 'late', coalesce(x.late, false),
    'inserts', (${compileWriting(sql, "inserts")}),
    'deletes', (${compileWriting(sql, "deletes")}),
    'engines', e.list,
    'hasChildTables', r.relkind = 'r' and exists (
      select from pg_catalog.pg_inherits h where h.inhparent = r.oid),
    'rowSecurity', (${compileRowSecurity(sql)}),
    'feed', (select (pg_catalog.regexp_match(p.proname::text, '^changes_([0-9]{1,10})$'))[1]
      from pg_catalog.pg_trigger g
      join pg_catalog.pg_proc p on p.oid = g.tgfoid
      join pg_catalog.pg_namespace o on o.oid = p.pronamespace and o.nspname = 'rowgate'
      where g.tgrelid = r.oid and g.tgname = 'rowgate_changes_insert'),
    'keyIsValid', exists (select from pg_catalog.pg_index i
      where i.indrelid = r.oid and i.indisprimary and i.indisvalid and not i.indisexclusion),
    'key', coalesce((
      select pg_catalog.json_agg(i.indkey[k] order by k)
      from pg_catalog.pg_index i, pg_catalog.generate_series(0, i.indnkeyatts - 1) k
      where i.indrelid = r.oid and i.indisprimary), '[]'),
    'foreignKeys', coalesce(f.list, '[]'), 'referrers', coalesce(v.list, '[]'),
    'indexes', coalesce((
      select pg_catalog.json_agg(distinct pg_catalog.concat(i.indkey[0], ' ', i.indkey[1])
        order by pg_catalog.concat(i.indkey[0], ' ', i.indkey[1]))
      from pg_catalog.pg_index i
      join pg_catalog.pg_class x on x.oid = i.indexrelid
      join pg_catalog.pg_am m on m.oid = x.relam and m.amname = 'btree'
      where i.indrelid = r.oid and i.indisvalid and i.indpred is null), '[]'),
    'unique', coalesce((
      select pg_catalog.json_agg(pg_catalog.json_build_object('columns', u.columns,
        'neverNull', u.total, 'immediate', i.indimmediate) order by u.columns::text)
      from pg_catalog.pg_index i cross join lateral (
        select pg_catalog.json_agg(i.indkey[k] order by k) as columns,
          pg_catalog.bool_and(a.attnotnull and n.root is null) as total,
          pg_catalog.bool_and(o.opcdefault and i.indcollation[k] = a.attcollation) as usual
        from pg_catalog.generate_series(0, i.indnkeyatts - 1) k
        left join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = i.indkey[k]
          and a.attnum > 0
        left join unproven n on n.root = a.attrelid and n.attname = a.attname
        left join pg_catalog.pg_opclass o on o.oid = i.indclass[k]
        having pg_catalog.count(a.attnum) = i.indnkeyatts
      ) u
      where i.indrelid = r.oid and i.indisunique and i.indisvalid and i.indpred is null
        and not i.indisexclusion and u.usual), '[]'),
    'keysBeneath', (${compileKeysBeneath(sql, tenantColumn)}),
    'columns', coalesce(c.list, '[]')) as description
  from relations r
  left join described_columns c on c.attrelid = r.oid
  left join foreign_keys f on f.conrelid = r.oid
  left join referrers v on v.root = r.oid
  left join engines e on e.root = r.oid
  left join interference x on x.root = r.oid and x.operation = 'update'
  left join pg_catalog.pg_description d on d.objoid = r.oid
    and d.classoid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.objsubid = 0
),
found as materialized (select pg_catalog.json_build_object(
  'usable', (select coalesce(pg_catalog.json_agg(s.nspname order by s.place), '[]') from spaces s),
  'timeZone', (${compileTimeZone(sql)}),
  'distributes', pg_catalog.to_regclass('pg_catalog.pg_dist_partition') is not null,
  'tables', (select coalesce(pg_catalog.json_agg(t.description order by t.place, t.relname), '[]')
    from described_tables t),
  'types', (select coalesce(pg_catalog.json_object_agg(t.oid, t.description order by t.oid), '{}')
    from described_types t),
  'credentialTables', (select coalesce(pg_catalog.json_agg(distinct n.name order by n.name), '[]')
    from spaces s
    join pg_catalog.pg_class c on c.relnamespace = s.oid
    cross join lateral (values (pg_catalog.lower(c.relname::text)),
      (pg_catalog.lower(pg_catalog.concat(s.nspname, '_', c.relname)))) n (name)
    where pg_catalog.cardinality(${credentials}::text::text[]) > 0
      and n.name = any (${credentials}::text::text[]))
)::text as reading
from "$path" where "$path"."$made" is not null)
select pg_catalog.md5(r.reading) as digest,
  case when pg_catalog.md5(r.reading) is distinct from ${known ?? null}::text
    then ${compileReadable(sql)} end as reading
from found r` as PendingQuery<ReadingRow[]>;
}
