import type { Column, Table } from "../catalogue/catalogue.ts";
import { resolveTable } from "../catalogue/resolve.ts";
import { operatorsOf } from "../plan/condition.ts";
import { type Answer, type Call, tryFresh } from "./call.ts";

/**
 * Get Fields: the columns of one table, in column order.
 * @throws {ApiError} 400, 403, 404 the table
 * @see T47, T48
 */
export async function listFields(call: Call): Promise<Answer> {
  const { access, table: name } = call;
  const table = await tryFresh(
    call,
    (seen) => resolveTable(seen, name, { access, operation: "fields" }),
  );
  const fields = [...table.columns.values()].map((column) => describeField(table, column));
  const json = JSON.stringify({ success: true, table: table.name, fields });
  return { json, cacheable: true };
}

function describeField(table: Table, column: Column) {
  return {
    name: column.name,
    type: column.type,
    nullable: column.nullable,
    primary_key: column.primaryKey,
    writable: table.writable && column.readOnly === undefined,
    operators: operatorsOf(column),
    ...(column.labels === undefined ? {} : { enum: column.labels }),
    comment: column.comment,
  };
}
