import type { SortItem } from "../query_options.tsx";

/**
 * Sorts by a column: ascending, at the next call descending, then no longer. With `more` it becomes the
 * last of the columns that are sorted by.
 */
export function sortBy(
  sort: readonly SortItem[],
  field: string,
  more: boolean,
): { readonly sort: readonly SortItem[] } {
  const at = sort.findIndex((item) => item.field === field);
  const before = sort[at]?.direction;
  const next: readonly SortItem[] = before === "desc"
    ? []
    : [{ field, direction: before === "asc" ? "desc" : "asc" }];
  if (!more) return { sort: next };
  return { sort: at < 0 ? [...sort, ...next] : sort.toSpliced(at, 1, ...next) };
}
