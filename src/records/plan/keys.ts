import type { Column, SqlText, Table } from "../../catalogue/catalogue.ts";
import type { Predicate } from "./predicate.ts";
import type { Scope } from "./scope.ts";

/** The parts of a query that decide whether it is read by the key. */
interface KeyQuery {
  readonly table: Table;
  readonly scope: Scope;
  readonly predicate: Predicate | undefined;
  readonly sort: readonly { readonly column: Column }[];
  readonly page: number;
  readonly perPage: number;
}

/** `column = value`. */
type Equality = Extract<Predicate, { kind: "compare" }>;

/**
 * Returns the key columns that a query looks up, in the order of its conditions; undefined if it is
 * not a look-up by key. With the tenant they are the whole key, so at most one row matches and an
 * index finds it. Postgres is certain to accept the values.
 * @see docs/decisions/0022-by-key.md
 */
export function findKey({ table, scope, page, predicate }: KeyQuery): Column[] | undefined {
  if (scope.kind !== "tenant" || page !== 1 || predicate?.kind !== "and") return undefined;
  const { items } = predicate;
  if (!items.every((item) => isEquality(item) && item.value.certain)) return undefined;
  const asked = items.map((item) => (item as Equality).column);
  const isKey = asked.length === listKey(table).length && namesKey(table, items);
  return isKey && asked.length > 0 ? asked : undefined;
}

/**
 * Reports whether the conditions of an AND compare every column of the key except the tenant's for
 * equality, so that at most one row of a tenant matches.
 * @see docs/decisions/0022-by-key.md
 */
export function namesKey(table: Table, items: readonly Predicate[]): boolean {
  return table.keyUnique &&
    listKey(table).every((column) =>
      items.some((item) => isEquality(item) && item.column === column)
    );
}

/** Returns the key without the tenant's columns, which every statement compares anyway. */
function listKey({ primaryKey, tenancy }: Table): Column[] {
  const own = tenancy?.via.length === 0 ? tenancy.columns : [];
  return primaryKey.filter(({ identifier }) =>
    !own.some((tenant) => tenant.identifier === identifier)
  );
}

/**
 * Reports whether an item compares by `=` as an index does: padded text is compared without padding,
 * which no index does.
 */
function isEquality(item: Predicate): item is Equality {
  return item.kind === "compare" && item.comparison === "=" && !item.column.padded;
}

/** From this offset on, it is cheaper to find the keys of a page first and then its rows. */
const DEEP_ROWS = 1000;

/**
 * Reports whether the index of the key covers filters and order, so that the rows before a deep page
 * need not be read.
 * @see docs/decisions/0018-pages.md
 */
export function readsKeysFirst(
  { table, predicate, sort, page, perPage }: KeyQuery,
): boolean {
  if ((page - 1) * perPage < DEEP_ROWS || sort.length === 0) return false;
  const { keyIndexed, tenant } = table;
  if (!keyIndexed || tenant === undefined) return false;
  const indexed = new Set([
    ...table.keyOrder.map(({ identifier }) => identifier),
    tenant.identifier,
  ]);
  return sort.every(({ column }) => indexed.has(column.identifier)) &&
    (predicate === undefined || isOn(predicate, indexed));
}

function isOn(predicate: Predicate, indexed: ReadonlySet<SqlText>): boolean {
  if ("items" in predicate) return predicate.items.every((item) => isOn(item, indexed));
  return indexed.has(predicate.column.identifier);
}
