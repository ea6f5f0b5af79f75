import type { Catalogue, Column, Table } from "../catalogue/catalogue.ts";
import { isOpenTo } from "../catalogue/resolve.ts";
import { operatorsOf } from "../records/plan/condition.ts";
import type { Access } from "../access/tokens/token.ts";

/** Returns the tables that a token gives access to, sorted by name. */
export function findOpenTables({ tables }: Catalogue, access: Access): readonly Table[] {
  return [...tables.values()].filter((table) => isOpenTo(table, access))
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/**
 * Returns the body of Get Tables.
 * @see T43, T44
 */
export function describeTables(catalogue: Catalogue, access: Access): string {
  const tables = findOpenTables(catalogue, access)
    .map(({ name, primaryKey, writable, creatable, deletable, feed, comment }) => ({
      name,
      primary_key: primaryKey.map((column) => column.name),
      writable,
      creatable,
      deletable,
      changes: feed !== undefined,
      comment,
    }));
  return JSON.stringify({ success: true, tables });
}

/**
 * Returns the body of Get Fields: the columns of a table, in column order, and the keys by which an
 * upsert can match.
 * @see T47, T48
 */
export function describeFields(table: Table): string {
  const fields = [...table.columns.values()].map((column) => describeField(table, column));
  const keys = table.matchKeys.map((columns) => columns.map(({ name }) => name));
  return JSON.stringify({ success: true, table: table.name, fields, match_keys: keys });
}

function describeField(table: Table, column: Column) {
  return {
    name: column.name,
    type: column.type,
    ...(column.type === column.baseType ? {} : { base_type: column.baseType }),
    nullable: column.nullable,
    primary_key: column.primaryKey,
    writable: table.writable && column.readOnly === undefined,
    creatable: table.creatable && column.unset === undefined,
    required: table.creatable && column.required,
    operators: operatorsOf(column),
    ...(column.labels === undefined ? {} : { enum: column.labels }),
    ...(column.timeZone === undefined ? {} : { time_zone: column.timeZone }),
    comment: column.comment,
  };
}
