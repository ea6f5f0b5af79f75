import type { SqlText } from "../catalogue/catalogue.ts";
import type { Predicate } from "./predicate.ts";
import type { QueryPlan } from "./query_plan.ts";

/** So many rows before a page, and finding its keys before its rows pays. */
const DEEP_ROWS = 1000;

/** What tells whether a page is read by its keys. */
type Asked = Pick<QueryPlan, "table" | "scope" | "predicate" | "sort" | "page" | "perPage">;

/**
 * Tells whether one index knows which rows match and in what order, so that those before a deep page
 * need not be read.
 * @see docs/decisions/0183-deep-pages.md
 */
export function readsKeysFirst({ table, scope, predicate, sort, page, perPage }: Asked): boolean {
  if ((page - 1) * perPage < DEEP_ROWS || sort.length === 0) return false;
  if (!table.keyIndexed || scope.kind !== "tenant") return false;
  const indexed = new Set([...table.keyOrder, scope.column.identifier]);
  return sort.every(({ column }) => indexed.has(column.identifier)) &&
    (predicate === undefined || isOn(predicate, indexed));
}

function isOn(predicate: Predicate, indexed: ReadonlySet<SqlText>): boolean {
  if ("items" in predicate) return predicate.items.every((item) => isOn(item, indexed));
  return indexed.has(predicate.column.identifier);
}
