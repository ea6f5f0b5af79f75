import type { Table } from "../../catalogue/catalogue.ts";
import { unquoteIdentifier } from "../../catalogue/quote_identifier.ts";
import type { PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";

/** A constraint or unique index, as an error of Postgres names it. */
export interface BrokenConstraint {
  readonly name: string;
  /** Schema and name of the table that it belongs to. */
  readonly relation: string;
}

/**
 * Compiles the names of a table's columns that are part of a constraint or unique index: its own, one
 * of its partitions', or a foreign key of another table that refers to it. They are read from
 * Postgres's dependencies of the constraint, which include the columns of expressions.
 */
export function compileConstraintColumns(
  sql: Sql,
  { identifier }: Pick<Table, "identifier">,
  { name, relation }: BrokenConstraint,
): PendingQuery<{ column: string }[]> {
  return sql`
    with "$relation" as (
      select c.oid from pg_catalog.pg_class c
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      where pg_catalog.concat(n.nspname, '.', c.relname) = ${relation}::text
    ),
    "$broken" as (
      select 'pg_catalog.pg_constraint'::pg_catalog.regclass::pg_catalog.oid "$class", k.oid "$object"
      from pg_catalog.pg_constraint k
      where k.conname = ${name}::text and k.conrelid in (select oid from "$relation")
      union all
      select 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid, i.indexrelid
      from pg_catalog.pg_index i
      join pg_catalog.pg_class x on x.oid = i.indexrelid and x.relname = ${name}::text
      where i.indrelid in (select oid from "$relation")
    )
    select distinct a.attname::text "column"
    from "$broken"
    join pg_catalog.pg_depend d on d.classid = "$broken"."$class" and d.objid = "$broken"."$object"
      and d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass and d.refobjsubid > 0
    join pg_catalog.pg_attribute a on a.attrelid = d.refobjid and a.attnum = d.refobjsubid
    where d.refobjid = pg_catalog.to_regclass(${identifier}::text)
      or exists (
        select from pg_catalog.pg_partition_ancestors(d.refobjid) p (relid)
        where p.relid = pg_catalog.to_regclass(${identifier}::text))
    order by 1`;
}

/**
 * Compiles the names of the columns from which Postgres computes whose a row is: what its generated
 * tenant columns, or a generated reference to the row that decides, are computed from. Postgres 14 keeps
 * the dependencies at the column, later versions at its expression.
 */
export function compileTenantSources(
  sql: Sql,
  { identifier, tenancy }: Pick<Table, "identifier" | "tenancy">,
): PendingQuery<{ column: string }[]> {
  const [first] = tenancy?.via ?? [];
  const names = first?.pairs.map(({ from }) => unquoteIdentifier(from)) ??
    tenancy?.columns.map(({ name }) => name) ?? [];
  return sql`
    select distinct b.attname::text "column"
    from pg_catalog.pg_attribute a
    join pg_catalog.pg_attrdef f on f.adrelid = a.attrelid and f.adnum = a.attnum
    join pg_catalog.pg_depend d on d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and d.refobjid = a.attrelid and d.refobjsubid > 0 and d.refobjsubid <> a.attnum
      and (d.classid = 'pg_catalog.pg_attrdef'::pg_catalog.regclass and d.objid = f.oid
        or d.classid = d.refclassid and d.objid = a.attrelid and d.objsubid = a.attnum)
    join pg_catalog.pg_attribute b on b.attrelid = a.attrelid and b.attnum = d.refobjsubid
    where a.attrelid = pg_catalog.to_regclass(${identifier}::text) and a.attgenerated <> ''
      and a.attname::text = any(${printArray(names)}::text::text[])
    order by 1`;
}

/**
 * Compiles the names of the columns that a check constraint of a table concerns; NULL for one that
 * concerns the row as a whole.
 */
export function compileCheckColumns(
  sql: Sql,
  { identifier }: Pick<Table, "identifier">,
  name: string,
): PendingQuery<{ column: string | null }[]> {
  return sql`
    select a.attname::text "column"
    from pg_catalog.pg_constraint k
    cross join lateral pg_catalog.unnest(k.conkey) "$key"("number")
    left join pg_catalog.pg_attribute a on a.attrelid = k.conrelid and a.attnum = "$key"."number"
    where k.conrelid = pg_catalog.to_regclass(${identifier}::text) and k.contype = 'c'
      and k.conname = ${name}::text`;
}

/**
 * Compiles the names of the columns that decide which partition of a relation has a row. The relation
 * is the table or one of its partitions.
 */
export function compilePartitionColumns(
  sql: Sql,
  { identifier }: Pick<Table, "identifier">,
  relation: string,
): PendingQuery<{ column: string }[]> {
  return sql`
    select a.attname::text "column"
    from pg_catalog.pg_class c
    join pg_catalog.pg_namespace n on n.oid = c.relnamespace
    join pg_catalog.pg_depend d on d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
      and d.objid = c.oid and d.objsubid > 0 and d.deptype = 'i'
      and d.refclassid = d.classid and d.refobjid = c.oid and d.refobjsubid = 0
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum = d.objsubid
    where c.relkind = 'p' and pg_catalog.concat(n.nspname, '.', c.relname) = ${relation}::text
      and exists (
        select from pg_catalog.pg_partition_ancestors(c.oid) p (relid)
        where p.relid = pg_catalog.to_regclass(${identifier}::text))
    order by 1`;
}
