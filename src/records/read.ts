import { ApiError } from "../basics/errors/api_error.ts";
import { findKey } from "./plan/keys.ts";
import type { ContinuedPlan, QueryPlan } from "./plan/query_plan.ts";
import { compileQuery, type PageRow } from "./sql/query.ts";
import { identifyQuery, openPageToken, sealPageToken } from "./page_token.ts";
import type { Run } from "./run.ts";
import { REFUSED, takeWay } from "./ways.ts";

/** One page of records, as Postgres printed it: every digit, every microsecond. */
export interface Page {
  /** Rows on it, as digits. */
  readonly rows: string;
  /** Rows that match across all pages, as digits; null when they were not to be counted. */
  readonly total: string | null;
  /** A JSON array; empty once it was printed. */
  records: string;
  /** The number of the page. */
  readonly page: number;
  /**
   * The page token of the next page, if the client asked for one; `token` is undefined on the last
   * page.
   */
  readonly continued?: { readonly token: string | undefined } | undefined;
  /** The version of the row that was asked for; null where it has none. */
  readonly tag?: string | null | undefined;
}

/**
 * Reads the page of a plan.
 * @throws {ApiError} 400 the page is too large, or its page token is not valid
 * @throws {DatabaseError}
 */
export async function readPage(run: Run, plan: QueryPlan): Promise<Page> {
  const { continued } = plan;
  if (continued !== undefined) return await readContinued(run, { ...plan, continued });
  if (!plan.versioned) return printable(await readRow(run, plan), plan);
  const read = await takeWay("read", plan, () => readVersioned(run, plan));
  if (read !== REFUSED) return printable(read, plan);
  return printable(await readVersioned(run, { ...plan, versionKey: undefined }), plan);
}

/** Reads one record with its version; by its key in a pipeline with others. */
function readVersioned(run: Run, plan: QueryPlan): Promise<PageRow> {
  const isByKey = findKey(plan) !== undefined;
  const runAlone = () => readAlone(run, plan, { brief: isByKey });
  return isByKey ? readByKey(run, plan, runAlone) : runAlone();
}

/** Reads a page with a page token. If there can be none, a first page is read like any other. */
async function readContinued(run: Run, plan: ContinuedPlan): Promise<Page> {
  const { cursors } = run;
  if (plan.continued.token === undefined && !await cursors.available()) {
    return printable(
      await readAlone(run, { ...plan, continued: undefined }, { brief: false }),
      plan,
    );
  }
  const identity = identifyQuery(plan);
  const opened = await openPageToken(cursors, plan, identity);
  const row = await readAlone(run, opened, { brief: false });
  const page = printable(row, opened);
  const { next: after } = row;
  const token = after == null
    ? undefined
    : await sealPageToken(cursors, opened, { identity, after });
  return { continued: { token }, ...page };
}

/** Moves the records from the row to a page. @see docs/decisions/0035-runtimes.md */
function printable(row: PageRow, plan: QueryPlan): Page {
  const { rows, total, records, tag } = row;
  if (records === null) throw rejectSize(plan);
  row.records = "";
  return { rows, total, records, page: plan.page, tag };
}

/**
 * Batches a look-up by key. A statement with settings serves one tenant, so it is pipelined instead.
 */
function readRow(run: Run, plan: QueryPlan): Promise<PageRow> {
  const key = findKey(plan);
  const runAlone = () => readAlone(run, plan, { brief: key !== undefined });
  if (key === undefined) return runAlone();
  if (run.settings.length === 0) return run.lookUp({ plan, key }, runAlone);
  return readByKey(run, plan, runAlone);
}

async function readByKey(
  run: Run,
  plan: QueryPlan,
  runAlone: () => Promise<PageRow>,
): Promise<PageRow> {
  const row = await run.readByKey(
    { plan, compile: (sql) => compileQuery(sql, plan, run.settings) },
    runAlone,
  );
  return hasLargeValues(row) ? await runAlone() : row;
}

/**
 * Reads a page in one statement. It takes a second one if more rows match than one statement counts,
 * and another if values are so large that each has to be measured.
 * @see docs/decisions/0018-pages.md
 */
async function readAlone(
  { database, settings, requester }: Run,
  plan: QueryPlan,
  { brief }: { readonly brief: boolean },
): Promise<PageRow> {
  const options = { write: false, brief, ...requester };
  const read = async (asked: QueryPlan) => {
    const [row] = await database.run((sql) => compileQuery(sql, asked, settings), options);
    return row!;
  };
  let current = plan;
  let row = await read(current);
  if (current.oneReading && row.total === null) {
    current = { ...current, oneReading: false };
    row = await read(current);
  }
  return hasLargeValues(row) ? await read({ ...current, measured: true }) : row;
}

function hasLargeValues({ large }: PageRow): boolean {
  return large != null && large !== "0";
}

function rejectSize({ maxPageBytes, versioned }: QueryPlan): ApiError {
  if (versioned) {
    const expected = "expected fewer fields (select)";
    throw new ApiError(400, `select: The record is larger than ${maxPageBytes} bytes, ${expected}`);
  }
  const message = `per_page: The page is larger than ${maxPageBytes} bytes, ` +
    "expected fewer rows or fewer fields (select)";
  return new ApiError(400, message);
}
