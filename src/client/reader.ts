import type { Page, Result, TableList } from "./answers.ts";
import { createError } from "./error.ts";
import type { CallOptions, QueryOptions } from "./interface.ts";
import type { AnyTables, Query } from "./tables.ts";

/** A row of any table. */
export type AnyRecord = AnyTables[string]["record"];
/** A query on any table. */
export type AnyQuery = Query<AnyTables[string]>;

/** What the iterators ask with. */
export interface Reader {
  readonly query: (
    table: string,
    request?: AnyQuery,
    options?: QueryOptions,
  ) => Promise<Result<Page<AnyRecord>>>;
  readonly listTables: (options: CallOptions) => Promise<Result<TableList>>;
}

/** What is asked page by page. */
export interface Reading {
  readonly table: string;
  readonly request: AnyQuery;
  /** Gives what the next page asks differently: behind this row, or with this number. */
  readonly next: (last: AnyRecord, page: number) => AnyQuery;
  readonly options: CallOptions;
}

const ROWS_PER_PAGE = 200;

/**
 * Asks for page after page, until one is not full.
 * @throws {RowgateError}
 */
export async function* readOn(
  { query }: Reader,
  { table, request, next, options }: Reading,
): AsyncGenerator<readonly AnyRecord[], void, undefined> {
  const per_page = request.per_page ?? ROWS_PER_PAGE;
  let changed = {};
  for (let page = 2;; page++) {
    const answer = await query(table, { ...request, per_page, ...changed }, {
      ...options,
      count: false,
    });
    if (!answer.success) throw answer.error;
    const { records } = answer;
    yield records;
    if (records.length < answer.per_page) return;
    changed = next(records[records.length - 1]!, page);
  }
}

/**
 * Gives the primary key of a table.
 * @throws {RowgateError} also for a table that has none
 */
export async function findKey(
  { listTables }: Reader,
  table: string,
  options: CallOptions,
): Promise<readonly string[]> {
  const answer = await listTables(options);
  if (!answer.success) throw answer.error;
  const found = answer.tables.find(({ name }) => name === table);
  if (found?.primary_key.length) return found.primary_key;
  throw createError(
    found ? `sort: "${table}" has no primary key` : `table: "${table}" was not found`,
    { status: found ? 400 : 404, attempts: 1 },
  );
}
