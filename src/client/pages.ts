import type { Page, TableList } from "./responses.ts";
import { createError, type Result } from "./errors.ts";
import type { CallOptions, QueryOptions } from "./interface.ts";
import type { AnyTables, Group, Query } from "./tables.ts";

/** A row of any table. */
export type AnyRecord = AnyTables[string]["record"];
/** A query on any table. */
export type AnyQuery = Query<AnyTables[string]>;

/** Options of an iterator's queries. */
export interface ReaderOptions extends QueryOptions {
  /** The page token of the next page; empty for the first page. Undefined: pages are numbered. */
  readonly after?: string | undefined;
}

/** The calls that iterators use. */
export interface Reader {
  readonly query: (
    table: string,
    request?: AnyQuery,
    options?: ReaderOptions,
  ) => Promise<Result<Page<AnyRecord>>>;
  readonly listTables: (options: CallOptions) => Promise<Result<TableList>>;
}

/** A query to read page by page. */
export interface PagedQuery {
  readonly table: string;
  readonly request: AnyQuery;
  /** Makes the query of the next page: after this last row, or with this page number. */
  readonly next: (last: AnyRecord, page: number) => AnyQuery;
  readonly options: CallOptions;
}

const ROWS_PER_PAGE = 200;

/**
 * Reads page after page until one is not full.
 * @throws {RowgateError}
 */
export async function* readPages(
  { query }: Reader,
  { table, request, next, options }: PagedQuery,
): AsyncGenerator<readonly AnyRecord[], void, undefined> {
  const per_page = request.per_page ?? ROWS_PER_PAGE;
  let changes = {};
  for (let page = 2;; page++) {
    const result = await query(table, { ...request, per_page, ...changes }, {
      ...options,
      count: false,
    });
    if (!result.success) throw result.error;
    const { records } = result;
    yield records;
    if (records.length < result.per_page) return;
    changes = next(records[records.length - 1]!, page);
  }
}

/**
 * Returns the primary key of a table.
 * @throws {RowgateError} also if the table has no primary key
 */
export async function findPrimaryKey(
  { listTables }: Reader,
  table: string,
  options: CallOptions,
): Promise<readonly string[]> {
  const result = await listTables(options);
  if (!result.success) throw result.error;
  const found = result.tables.find(({ name }) => name === table);
  if (found?.primary_key.length) return found.primary_key;
  throw createError(
    found ? `sort: "${table}" has no primary key` : `table: "${table}" was not found`,
    { status: found ? 400 : 404, attempts: 1 },
  );
}

/**
 * Creates `pages` of the client, by page token. If the service has none, because the table has no key
 * or the service is older, it reads by key, or by page number if there is a `sort`.
 */
export function createPages(reader: Reader) {
  return async function* pages(
    table: string,
    request: AnyQuery = {},
    options: CallOptions = {},
  ): AsyncGenerator<readonly AnyRecord[], void, undefined> {
    const body = { ...request, per_page: request.per_page ?? ROWS_PER_PAGE };
    for (let after: string | undefined = ""; after !== undefined;) {
      let headers: Headers | undefined;
      const onHeaders = (received: Headers) => {
        headers = received;
        options.onHeaders?.(received);
      };
      const result = await reader.query(table, body, {
        ...options,
        onHeaders,
        count: false,
        after,
      });
      const isApplied = headers?.get("preference-applied")?.includes("page-token");
      if (after === "" && (result.success ? !isApplied : result.error.path === "sort")) {
        return yield* readWithoutTokens(reader, { table, request, options });
      }
      if (!result.success) throw result.error;
      yield result.records;
      after = headers?.get("link")?.match(/[?&]after=([\w-]+)/)?.[1];
    }
  };
}

async function* readWithoutTokens(
  reader: Reader,
  { table, request, options }: Omit<PagedQuery, "next">,
) {
  if (request.sort?.length) {
    return yield* readPages(reader, { table, request, next: (_, page) => ({ page }), options });
  }
  const key = await findPrimaryKey(reader, table, options);
  yield* readPages(reader, {
    table,
    request: sortByColumns(request, key),
    next: (last) => ({ filters: restrict(request, isAfter(key, last)) }),
    options,
  });
}

type AnyCondition = AnyTables[string]["condition"];
/** A group of conditions on any columns. */
export type AnyGroup = Group<AnyCondition>;

/**
 * Returns the condition "after this row" in the order of these columns: the first is greater, or it
 * is equal and the second is greater, and so on.
 */
export function isAfter(order: readonly string[], row: AnyRecord): AnyGroup {
  return {
    or: order.map((field, index) => ({
      and: [
        ...order.slice(0, index).map((equal) => ({ field: equal, op: "eq", value: row[equal] })),
        { field, op: "gt", value: row[field] },
      ],
    })),
  };
}

/** Adds an item to the filter of a query, which becomes one level deeper only if it is not an `and`. */
export function restrict({ filters }: AnyQuery, item: AnyCondition | AnyGroup): AnyGroup {
  const isAnd = Array.isArray(filters?.and) && Object.keys(filters).length === 1;
  return { and: [...isAnd ? filters.and : filters === undefined ? [] : [filters], item] };
}

/** Sorts a query by these columns and selects them too. */
export function sortByColumns(request: AnyQuery, order: readonly string[]): AnyQuery {
  const { select } = request;
  return {
    ...request,
    ...(select?.length && { select: [...new Set([...select, ...order])] }),
    sort: order.map((field) => ({ field })),
  };
}
