import type { SqlText, Table } from "../../catalogue/catalogue.ts";
import { namesKey } from "./keys.ts";
import type { Predicate } from "./predicate.ts";

/** The parts of a query that Postgres can choose an index for. */
interface Choice {
  readonly table: Table;
  readonly predicate: Predicate | undefined;
  readonly sort: readonly { readonly column: { readonly identifier: SqlText } }[];
}

/** A predicate that is not a group. */
type Condition = Exclude<Predicate, { readonly items: readonly Predicate[] }>;

/**
 * Reports whether the best plan of a query depends on its values. It does if an index of a condition
 * competes with one of the order, because the number of matching rows decides between them; or if an
 * index can be used for some patterns and not for others. It does not
 *
 * - for a row that is found by its key, and without conditions;
 * - where no index leads to the rows, and none has the order;
 * - for ranges of one indexed column, in its own order or in one that no index has.
 * @see P32
 * @see docs/decisions/0021-query-plans.md
 */
export function dependsOnValues({ table, predicate, sort }: Choice): boolean {
  if (predicate === undefined) return false;
  if (predicate.kind === "and" && namesKey(table, predicate.items)) return false;
  const conditions = listConditions(predicate);
  if (conditions.some(({ kind }) => SEARCHES.has(kind))) return true;
  const isIndexed = (identifier: SqlText) => table.orderedByIndex.has(identifier);
  const indexed = conditions.filter((condition) =>
    isIndexed(condition.column.identifier) && !isExclusion(condition)
  );
  const ordered = sort.slice(0, 1).map(({ column }) => column.identifier).filter(isIndexed);
  const ways = new Set([...indexed.map(({ column }) => column.identifier), ...ordered]);
  if (ways.size !== 1) return ways.size > 1;
  return conditions.length > 0 && (indexed.length === 0 || !indexed.every(isRange));
}

/** Conditions that an index can serve for some values and not for others. */
const SEARCHES: ReadonlySet<Condition["kind"]> = new Set<Condition["kind"]>(
  ["like", "contains"],
);

function listConditions(predicate: Predicate): readonly Condition[] {
  return "items" in predicate ? predicate.items.flatMap(listConditions) : [predicate];
}

/** Reports whether a condition only excludes rows, which no index helps with. */
function isExclusion(condition: Condition): boolean {
  if (condition.kind === "compare") return condition.comparison === "<>";
  return condition.kind === "member" && condition.negated;
}

function isRange(condition: Condition): boolean {
  if (condition.kind === "compare") return condition.comparison !== "=";
  return condition.kind === "between";
}
