import type { Column } from "../catalogue/catalogue.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../postgres/driver.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileOperand, compileWhere } from "./predicate.ts";

/** The additional column of an update of a table whose rows are read again. */
export interface WrittenRow {
  /** The keys of the rows that were written, as JSON: a list of lists of texts; null if none was. */
  readonly keys?: string | null;
}

/** The one row of a look at rows that were written before. */
export interface RereadRow {
  /** The place, from 1, of the first row that is out of reach, as digits; null if all are in reach. */
  readonly moved: string | null;
}

/** Compiles the key of a row as JSON. */
export function compileKey(sql: Sql, { table }: Pick<UpdatePlan, "table">): Fragment {
  const texts = table.keyOrder.map((column) => sql`${compileColumn(sql, column)}::text`);
  return sql`json_build_array(${join(sql, ",", texts)})`;
}

/** Compiles the key in a RETURNING, with a comma; empty where rows are not read again. */
export function compileReturnedKey(sql: Sql, plan: Pick<UpdatePlan, "table">): Fragment {
  return plan.table.rereads ? sql`, ${compileKey(sql, plan)} "$key"` : sql``;
}

/** Compiles the column of {@link WrittenRow}, with a comma; empty where rows are not read again. */
export function compileWrittenKeys(sql: Sql, { table }: Pick<UpdatePlan, "table">): Fragment {
  return table.rereads ? sql`, (select json_agg("$key") from "$written")::text keys` : sql``;
}

/**
 * Compiles a look at rows that were written earlier in the transaction, after all triggers have run:
 * each must be there under its key, belong to the tenant and match the row filter.
 * @see T86
 */
export function compileReread(
  sql: Sql,
  { table, scope }: Pick<UpdatePlan, "table" | "scope">,
  keys: string,
): PendingQuery<RereadRow[]> {
  const own = { scope, predicate: undefined };
  const same = table.keyOrder.map((column, place) =>
    sql`${compileOperand(sql, column)} = ${compileWrittenValue(sql, column, place)}`
  );
  return sql<RereadRow[]>`
    select min("$key"."$place")::text moved
    from json_array_elements(${keys}::text::json) with ordinality "$key"("$value", "$place")
    where not exists (
      select from ${compileTable(sql, table)}
      where ${compileWhere(sql, own)} and ${join(sql, "and", same)}
    )`;
}

function compileWrittenValue(sql: Sql, { cast, comparedAs }: Column, place: number): Fragment {
  return sql`("$key"."$value" ->> ${String(place)}::text::int4)::${
    literal(sql, comparedAs ?? cast)
  }`;
}
