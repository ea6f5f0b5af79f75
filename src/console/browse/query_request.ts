import type { ApiRequest, Field, Table } from "../api.ts";
import type { PlaceQuery } from "../frame/address.ts";
import { sortKeyless } from "../keyless_sort.ts";
import type { SortItem } from "../query_options.tsx";

/** What a query is made for. */
export interface Queried {
  readonly table: Table;
  readonly fields: readonly Field[];
}

/** The sort of a query: as chosen, otherwise by the key, of a table without one by every column. */
export function findSort(
  { sort }: Pick<PlaceQuery, "sort">,
  { table, fields }: Queried,
): readonly SortItem[] {
  if (sort.length > 0) return sort;
  if (table.primary_key.length === 0) return sortKeyless(table, fields).sort ?? [];
  return table.primary_key.map((field) => ({ field, direction: "asc" }));
}

/** The columns of a query; the key is always among them, since it says which row a row is. */
export function findColumns(
  columns: readonly string[],
  { table, fields }: Queried,
): readonly string[] {
  const { primary_key } = table;
  const others = fields.map(({ name }) => name).filter((name) =>
    !primary_key.includes(name) && (columns.length === 0 || columns.includes(name))
  );
  return [...primary_key, ...others];
}

/** Writes a query without its page, as a person would copy it. */
export function makeQueryRequest(query: PlaceQuery, queried: Queried): ApiRequest {
  const { filter, columns, perPage } = query;
  const sort = findSort(query, queried);
  return {
    method: "POST",
    path: `integration/tables/${queried.table.name}/query`,
    body: {
      ...(filter !== undefined && { filters: filter }),
      ...(columns.length > 0 && { select: findColumns(columns, queried) }),
      ...(sort.length > 0 && { sort }),
      per_page: perPage,
    },
  };
}

/**
 * Writes the request for a page: by its token where it is known, which costs the same on every page and
 * is not shifted by rows that come or go, otherwise by its number.
 * @see Q93
 */
export function makePageRequest(
  query: PlaceQuery,
  queried: Queried,
  token: string | undefined,
): ApiRequest {
  const request = makeQueryRequest(query, queried);
  const prefer = queried.table.primary_key.length > 0 ? { prefer: "page-token" } : {};
  if (query.page === 1) return { ...request, ...prefer };
  if (token !== undefined) return { ...request, path: `${request.path}?after=${token}`, ...prefer };
  const body = { ...request.body as Readonly<Record<string, unknown>>, page: query.page };
  return { ...request, body, ...prefer };
}
