import type { Field, Table } from "./api.ts";
import type { SortItem } from "./query_options.tsx";

/** Most keys of a sort, as of an index. */
const MAX_SORT_KEYS = 32;

/**
 * Returns the sort of a table without key where the user gives none: by every column that has an order.
 * Page tokens sort all other tables by their key; without either, pages overlap.
 * @see Q102
 */
export function sortKeyless(
  { primary_key }: Pick<Table, "primary_key">,
  fields: readonly Pick<Field, "name" | "operators">[],
): { readonly sort?: readonly SortItem[] } {
  if (primary_key.length > 0) return {};
  const sort = fields.filter(({ operators }) => operators.includes("lt")).slice(0, MAX_SORT_KEYS)
    .map(({ name }): SortItem => ({ field: name, direction: "asc" }));
  return sort.length === 0 ? {} : { sort };
}
