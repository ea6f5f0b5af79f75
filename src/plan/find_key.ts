import type { Column } from "../catalogue/catalogue.ts";
import type { Predicate } from "./predicate.ts";
import type { QueryPlan } from "./query_plan.ts";

/**
 * Gives the columns of the key that a query looks up, in the order of its conditions: they are the
 * whole key beside the tenant, so at most one row matches, an index leads to it, and Postgres can
 * refuse none of their values. Undefined for every other query.
 * @see docs/decisions/0186-look-ups-together.md
 */
export function findKey({ table, scope, page, predicate }: QueryPlan): Column[] | undefined {
  if (!table.keyUnique || scope.kind !== "tenant" || page !== 1) return undefined;
  if (predicate?.kind !== "and" || !predicate.items.every(isEqual)) return undefined;
  const asked = predicate.items.map(({ column }) => column);
  const key = table.primaryKey.filter(({ name }) => name !== scope.column.name);
  const isWhole = key.length === asked.length && key.every((column) => asked.includes(column));
  return isWhole && asked.length > 0 ? asked : undefined;
}

/** A padded text is compared without its padding, which no index knows. */
function isEqual(item: Predicate): item is Extract<Predicate, { kind: "compare" }> {
  return item.kind === "compare" && item.comparison === "=" && item.value.decided &&
    !item.column.padded;
}
