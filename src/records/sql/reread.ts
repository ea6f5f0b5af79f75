import type { Column, SqlText, Table } from "../../catalogue/catalogue.ts";
import { scopeAsWritten } from "../plan/removal.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileOperand, compileWhere } from "./predicate.ts";
import { compileReference } from "./row_checks.ts";

/** The additional column of an update of a table whose rows are read again. */
export interface WrittenRow {
  /** The keys of the rows that were written, as JSON: a list of lists of texts; null if none was. */
  readonly keys?: string | null;
}

/** The one row of a look at rows that were written before. */
export interface RereadRow {
  /** The place, from 1, of the first row that is out of reach, as digits; null if all are in reach. */
  readonly moved: string | null;
  /** The same of the first row that refers to a row of another tenant since it was written. */
  readonly referring?: string | null;
}

/** Compiles the key of a row as JSON, and behind it the values by which the row refers to others. */
export function compileKey(sql: Sql, { table }: Pick<UpdatePlan, "table">): Fragment {
  const columns = [...table.keyOrder, ...listReferring(table)];
  const texts = columns.map((column) => sql`${compileColumn(sql, column)}::text`);
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
 * each must be there under its key, belong to the tenant and match the row filter. It must refer to what
 * it referred to when it was written, or to a row of the tenant.
 * @see T86, T83
 */
export function compileReread(
  sql: Sql,
  plan: Pick<UpdatePlan, "table" | "scope" | "removal">,
  keys: string,
): PendingQuery<RereadRow[]> {
  const { table, scope } = plan;
  const own = { scope: scopeAsWritten(plan), predicate: undefined };
  const same = compileSameKey(sql, table);
  const found = () =>
    sql`select from ${compileTable(sql, table)}
      where ${compileWhere(sql, own)} and ${join(sql, "and", same)}`;
  const refers = compileReferences(sql, { table, scope });
  return sql<RereadRow[]>`
    select min("$key"."$place") filter (where not exists (${found()}))::text moved
      ${
    refers.length === 0 ? sql`` : sql`, min("$key"."$place") filter (
        where not exists (${found()} and ${join(sql, "and", refers)})
      )::text referring`
  }
    from json_array_elements(${keys}::text::json) with ordinality "$key"("$value", "$place")`;
}

function compileReferences(
  sql: Sql,
  { table, scope }: Pick<UpdatePlan, "table" | "scope">,
): Fragment[] {
  let place = table.keyOrder.length;
  return table.references.map((reference) => {
    const own = (identifier: SqlText) => compileColumn(sql, { identifier });
    const same = reference.via[0]!.pairs.map(({ from }) =>
      sql`${own(from)}::text is not distinct from "$key"."$value" ->> ${
        String(place++)
      }::text::int4`
    );
    const refers = compileReference(sql, scope, { reference, own });
    return sql`(${refers} or ${join(sql, "and", same)})`;
  });
}

function listReferring({ references }: Table): { readonly identifier: SqlText }[] {
  return references.flatMap(({ via: [first] }) =>
    first!.pairs.map(({ from }) => ({ identifier: from }))
  );
}

/** Compiles the conditions that a row has the key of `"$key"`. */
export function compileSameKey(sql: Sql, { keyOrder }: UpdatePlan["table"]): Fragment[] {
  return keyOrder.map((column, place) =>
    sql`${compileOperand(sql, column)} = ${compileWrittenValue(sql, column, place)}`
  );
}

function compileWrittenValue(sql: Sql, { cast, comparedAs }: Column, place: number): Fragment {
  return sql`("$key"."$value" ->> ${String(place)}::text::int4)::${
    literal(sql, comparedAs ?? cast)
  }`;
}
