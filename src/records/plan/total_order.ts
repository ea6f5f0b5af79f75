import type { Column, SqlText, Table } from "../../catalogue/catalogue.ts";
import { MAX_PAGE_TOKEN_COLUMNS } from "../../basics/errors/limits.ts";
import { type Issue, pathOf, quote } from "../../basics/errors/issue.ts";

/** One key of an order. */
export interface OrderKey {
  readonly column: Column;
  readonly descending: boolean;
}

/**
 * Adds the key to a sort, so that no two rows are equal in all sort keys and the values of a row
 * determine its position. The tenant's column is left out, since it is the same in all rows. Returns
 * an issue if the table has no such key and the sort no unique column.
 * @see Q94, Q95
 */
export function planTotalOrder(
  sort: readonly OrderKey[],
  table: Table,
): readonly OrderKey[] | Issue {
  const sorted = new Set(sort.map(({ column }) => column.identifier));
  const key = table.keyOrder.filter(({ identifier, order }) => order && !sorted.has(identifier))
    .map((column) => ({ column, descending: false }));
  const order = [...sort, ...key];
  if (!isTotal(order, table)) return rejectTies(table);
  const own = table.tenancy?.via.length === 0 ? table.tenancy.columns : [];
  const others = order.filter(({ column }) =>
    !own.some(({ identifier }) => identifier === column.identifier)
  );
  if (others.length > MAX_PAGE_TOKEN_COLUMNS) return rejectColumns(others.length);
  return others.length > 0 ? others : order;
}

function rejectColumns(columns: number): Issue {
  const message = `The sort has ${columns} columns with the primary key, ` +
    `expected at most ${MAX_PAGE_TOKEN_COLUMNS} for a page token`;
  return { path: pathOf("sort"), message };
}

function isTotal(order: readonly OrderKey[], { uniqueColumns }: Table): boolean {
  const identifiers = new Set<SqlText>(order.map(({ column }) => column.identifier));
  return uniqueColumns.some((list) => list.every((identifier) => identifiers.has(identifier)));
}

function rejectTies(table: Table): Issue {
  const unique = table.uniqueColumns
    .map((list) => list.flatMap((identifier) => findColumn(table, identifier)?.name ?? []))
    .find((names, at) => names.length > 0 && names.length === table.uniqueColumns[at]!.length);
  const message = unique === undefined
    ? `Table ${
      quote(table.name)
    } has neither a primary key nor a unique column that is never null, ` +
      "expected page numbers, without Prefer: page-token, or columns that the operator names as its " +
      "primary_key in the policy"
    : `Table ${quote(table.name)} has no primary key, expected a sort by a unique column: ` +
      unique.map((name) => quote(name)).join(" and ");
  return { path: pathOf("sort"), message };
}

function findColumn({ columns }: Table, identifier: SqlText): Column | undefined {
  return [...columns.values()].find((column) => column.identifier === identifier);
}
