import type { Column, SqlText, Table } from "../../catalogue/catalogue.ts";
import { splitTenant } from "../../catalogue/tenant_column.ts";
import type { CreatePlan } from "../plan/create_plan.ts";
import { ownColumn, refersBy } from "../plan/scope.ts";
import type { Fragment, PendingQuery, Row, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileListed, compilePredicate } from "./predicate.ts";
import { compileOutput } from "./record.ts";
import { listValues, type RecordGroup } from "./record_groups.ts";
import { compileKey, compileSameKey } from "./reread.ts";
import { compileReference } from "./row_checks.ts";
import { compileBelongs, compileScope } from "./scope.ts";
import { compileFromSettings, compileSettings, type Setting } from "./settings.ts";

/** A created row: its JSON as text. */
export interface CreatedRow extends Row {
  /** The columns of the key for clients; null if the table has none. */
  readonly key: string | null;
  /** The whole row; null if it was not requested. */
  readonly record: string | null;
  /** The key by which the row is read again; null if it is not. */
  readonly reread: string | null;
}

/** The one row of the result of {@link compileCreate}. */
export interface CreatedList extends Row {
  /** A list of {@link CreatedRow} as JSON; null if there is none. */
  readonly created: string | null;
}

/** SQLSTATE of a create of which the database skipped a row; nothing was written. @see CR9 */
export const SKIPPED = "2201F";

/**
 * Compiles the insert of a group of records, in their order. It raises an SQLSTATE, so that nothing is
 * written, if a row would not be the tenant's as it was written, refers to another tenant's row, would
 * not match the row filter, or was skipped by a trigger.
 * @see docs/specification/creating.md
 */
export function compileCreate(
  sql: Sql,
  plan: CreatePlan,
  { group, settings }: {
    readonly group: RecordGroup;
    /** Those that the statement makes itself; in a transaction, a step before it makes them. */
    readonly settings: readonly Setting[];
  },
): PendingQuery<CreatedList[]> {
  const count = sql`${String(group.records.length)}::text::int8`;
  return sql<CreatedList[]>`
    with ${compileSettings(sql, settings)}
    "$created" as (
      ${compileInsert(sql, plan, group)}
    )
    select
      (
        select json_agg(json_build_array("key", "record", "reread")) from "$created"
      )::text created,
      (
        select case
          when count(*) = ${count} then true
          when power(0::float8, -1 - count(*)) > 0 then null
        end
        from "$created"
      ) whole
    ${compileFromSettings(sql, settings)}`;
}

/** Compiles the INSERT itself, which returns a {@link CreatedRow} for each record. */
export function compileInsert(
  sql: Sql,
  plan: CreatePlan,
  group: RecordGroup,
): Fragment {
  const { table } = plan;
  const { keys, values } = compileSent(sql, plan, group);
  return sql`
      insert into ${literal(sql, table.identifier)} as "$row" (${join(sql, ",", keys)})
      select ${join(sql, ",", values)}
      from json_array_elements(${printGroup(group)}::text::json) with ordinality
        "$sent"("$value", "$place")
      order by "$sent"."$place"
      returning ${join(sql, ",", [...compileChecks(sql, plan), compileShown(sql, plan)])}`;
}

/** Compiles what a response shows of a row, and the key by which it is read again. */
export function compileShown(
  sql: Sql,
  plan: Pick<CreatePlan, "table" | "representation" | "wideNumbersAsText" | "rereads">,
): Fragment {
  const { table, representation, rereads } = plan;
  const print = (columns: readonly Column[]) =>
    columns.length === 0 ? sql`null::text` : compilePrinted(sql, plan, columns);
  const reread = rereads ? sql`${compileKey(sql, plan)}::text` : sql`null::text`;
  return sql`
        ${print(table.primaryKey)} "key",
        ${print(representation ? [...table.columns.values()] : [])} "record",
        ${reread} "reread"`;
}

/** Compiles the JSON of a row with the given columns. */
function compilePrinted(
  sql: Sql,
  { table, wideNumbersAsText }: Pick<CreatePlan, "table" | "wideNumbersAsText">,
  columns: readonly Column[],
): Fragment {
  const output = compileOutput(sql, { columns, wideNumbersAsText });
  const text = sql`(select row_to_json("$output") from (select ${output}) "$output")::text`;
  return printInUtc(sql, text, table);
}

/**
 * Prints times in UTC in a session of another zone, which is its zone again afterwards: the triggers that
 * follow may use it. The arguments of a function are evaluated in their order.
 * @see U61
 */
function printInUtc(sql: Sql, text: Fragment, { timeZone }: Pick<Table, "timeZone">): Fragment {
  if (timeZone === undefined) return text;
  return sql`concat(
          left(set_config('TimeZone', 'UTC', true), 0), ${text},
          left(set_config('TimeZone', ${timeZone}::text, true), 0)
        )`;
}

/** Compiles the columns of the INSERT and their values: those of the record, and the tenant's. */
function compileSent(
  sql: Sql,
  plan: CreatePlan,
  { columns }: RecordGroup,
): { readonly keys: Fragment[]; readonly values: Fragment[] } {
  const tenants = listTenants(sql, plan);
  const sent = columns.map(({ column, zoned }, place) => ({
    identifier: column.identifier,
    value: compileListed(
      sql,
      sql`("$sent"."$value" ->> ${String(place)}::text::int4)`,
      { column, zoned },
    ),
  }));
  const all = [...sent, ...tenants];
  return {
    keys: all.map(({ identifier }) => literal(sql, identifier)),
    values: all.map((one) => compileChecked(sql, plan, { one, all })),
  };
}

interface SentValue {
  readonly identifier: SqlText;
  readonly value: Fragment;
}

function listTenants(sql: Sql, { scope: { tenancy, tenant } }: CreatePlan): SentValue[] {
  if (tenancy.via.length > 0) return [];
  const parts = splitTenant(tenant, tenancy.columns.length);
  if (parts === undefined) throw new Error("a tenant that does not fit reached a statement");
  return tenancy.columns.map(({ identifier, cast }, place) => ({
    identifier,
    value: sql`${parts[place]!}::text::${literal(sql, cast)}`,
  }));
}

/**
 * Compiles a value with the checks of the references that it is the first column of. They are made before
 * the row is written, so that no unique key is compared with a reference to another tenant's row.
 * @see T83
 */
function compileChecked(
  sql: Sql,
  { scope, table }: CreatePlan,
  { one, all }: { readonly one: SentValue; readonly all: readonly SentValue[] },
): Fragment {
  const find = (from: SqlText) => all.find(({ identifier }) => identifier === from)?.value;
  const isChecked = (path: Pick<typeof scope.tenancy, "via">) =>
    path.via[0]?.pairs.every(({ from }) => find(from) !== undefined) &&
    all.find(({ identifier }) => refersBy(path as typeof scope.tenancy, { identifier })) === one;
  const own = (from: SqlText) => find(from)!;
  const refusal = sql`width_bucket(1::float8, 1, 1, "$sent"."$place"::int4) > 0`;
  const checks = table.references.filter(isChecked)
    .map((reference) => compileReference(sql, scope, { reference, own }));
  if (isChecked(scope.tenancy)) checks.push(compileBelongs(sql, scope, { locks: true, own }));
  return checks.reduce(
    (value, holds) => sql`case when ${holds} then ${value} when ${refusal} then null end`,
    one.value,
  );
}

/**
 * Compiles the checks of a row as it was written, whatever has changed it: a default, a trigger, a generated
 * column or the expression of a view. What raises has a column of the row in it, so that no planner
 * evaluates it before.
 * @see T80, CR6, CR7, CR8
 */
function compileChecks(
  sql: Sql,
  { table, scope }: Pick<CreatePlan, "table" | "scope">,
): Fragment[] {
  const written = sql`pg_catalog.num_nulls(${compileColumn(sql, ownColumn(scope))})`;
  const own = (from: SqlText) => compileColumn(sql, { identifier: from });
  const foreign = sql`width_bucket(1::float8, 1, 1, ${written}) > 0`;
  const moved = sql`pg_catalog.jsonb_path_match(
          pg_catalog.to_jsonb(${written}), '$.keyvalue()'
        )`;
  const hidden = sql`ln(0::float8 * ${written}) > 0`;
  const checks: (readonly [holds: Fragment, refusal: Fragment])[] = [
    [compileScope(sql, scope, "locked"), scope.tenancy.via.length > 0 ? foreign : moved],
    ...table.references.map((reference) =>
      [compileReference(sql, scope, { reference, own }), foreign] as const
    ),
  ];
  if (scope.only !== undefined) checks.push([compilePredicate(sql, scope.only), hidden]);
  return checks.map(([holds, refusal]) =>
    sql`case when ${holds} then true when ${refusal} then null end`
  );
}

/** Prints the values of a group: a list of lists of texts, in the order of its columns. */
function printGroup({ columns, records }: RecordGroup): string {
  return JSON.stringify(records.map((record) => listValues(record, columns)));
}

/**
 * Compiles the rows under keys that were written before in the transaction, as they are now, in the order
 * of the keys.
 */
export function compileReadCreated(
  sql: Sql,
  plan: Pick<CreatePlan, "table" | "scope" | "wideNumbersAsText">,
  keys: string,
): PendingQuery<{ record: string }[]> {
  const { table, scope } = plan;
  const record = compilePrinted(sql, plan, [...table.columns.values()]);
  return sql<{ record: string }[]>`
    select ${record} record
    from json_array_elements(${keys}::text::json) with ordinality "$key"("$value", "$place")
    join ${compileTable(sql, table)} on ${join(sql, "and", compileSameKey(sql, table))}
    where ${compileScope(sql, scope, "seen")}
    order by "$key"."$place"`;
}
