import type { Column, Table } from "../catalogue/catalogue.ts";
import type { Predicate } from "./predicate.ts";
import type { QueryPlan } from "./query_plan.ts";

/** `column = value`. */
type Equality = Extract<Predicate, { kind: "compare" }>;

/**
 * Gives the columns of the key that a query looks up, in the order of its conditions: they are the
 * whole key beside the tenant, so at most one row matches, an index leads to it, and Postgres can
 * refuse none of their values. Undefined for every other query.
 * @see docs/decisions/0186-look-ups-together.md
 */
export function findKey({ table, scope, page, predicate }: QueryPlan): Column[] | undefined {
  if (scope.kind !== "tenant" || page !== 1 || predicate?.kind !== "and") return undefined;
  const { items } = predicate;
  if (!items.every((item) => isEquality(item) && item.value.decided)) return undefined;
  const asked = items.map((item) => (item as Equality).column);
  const isKey = asked.length === listKey(table).length && namesKey(table, items);
  return isKey && asked.length > 0 ? asked : undefined;
}

/**
 * Tells whether conditions that all hold compare the whole key beside the tenant for equality, so that
 * at most one of a tenant's rows matches.
 * @see docs/decisions/0187-updates-by-key.md
 */
export function namesKey(table: Table, items: readonly Predicate[]): boolean {
  return table.keyUnique &&
    listKey(table).every((column) =>
      items.some((item) => isEquality(item) && item.column === column)
    );
}

/** The key without the tenant's column, which each statement compares anyway. */
function listKey({ primaryKey, tenant }: Table): Column[] {
  return primaryKey.filter(({ name }) => name !== tenant?.name);
}

/** A padded text is compared without its padding, which no index knows. */
function isEquality(item: Predicate): item is Equality {
  return item.kind === "compare" && item.comparison === "=" && !item.column.padded;
}
