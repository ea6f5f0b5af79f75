import { resolveTable } from "../catalogue/resolve.ts";
import { ApiError } from "../errors/api_error.ts";
import type { Compile } from "../postgres/database.ts";
import { findKey } from "../plan/keys.ts";
import { planQuery, type QueryPlan } from "../plan/query_plan.ts";
import { parseQueryRequest, type QueryRequest } from "../request/query_request.ts";
import { useOfQuery } from "../request/body_parts.ts";
import { compileQuery, type PageRow } from "../sql/query.ts";
import type { Setting } from "../sql/settings.ts";
import { type Answer, type Call, entrantOf, settingsOf, tryFresh } from "./call.ts";
import { explainFailure } from "./explain_failure.ts";

/** A query as it is understood, and as it was written. */
interface Asked {
  readonly plan: QueryPlan;
  readonly request: QueryRequest;
}

/**
 * Query Records: reads one page of rows, and how many match across all pages.
 * @throws {ApiError} 400 the body; 403 a credential table or a token without `query`; 404 no such
 * table; 503 and 504 the database
 * @see docs/specification/query.md
 */
export async function queryRecords(call: Call): Promise<Answer> {
  const { access, table: name, wideNumbersAsText } = call;
  const resolve = { access, operation: "query" } as const;
  await tryFresh(call, (seen) => resolveTable(seen, name, resolve));
  const { count } = call.readWishes();
  const document = await call.readDocument(useOfQuery());
  const reading = { ...call.limits, words: document };
  const request = parseQueryRequest(document.value, document.issues, reading);
  return await tryFresh(call, async (seen) => {
    const table = resolveTable(seen, name, resolve);
    const { maxPageBytes } = call.limits;
    const plan = planQuery(request, { table, access, count, wideNumbersAsText, maxPageBytes });
    return printPage(plan, await readPage(call, { plan, request }));
  });
}

/** One statement speaks for several requests only where it needs no settings of one tenant. */
function readPage(call: Call, asked: Asked): Promise<PageRow> {
  const { plan } = asked;
  const settings = settingsOf(call);
  const alone = () => readAlone(call, asked, settings);
  const key = findKey(plan);
  if (key === undefined) return alone();
  if (settings.length === 0) return call.lookUp({ plan, key }, alone);
  const compile: Compile<PageRow> = (sql) => compileQuery(sql, plan, settings);
  return call.readByKey({ plan, compile }, alone).then((page) => hasLarge(page) ? alone() : page);
}

async function readAlone(
  call: Call,
  { plan, request }: Asked,
  settings: readonly Setting[],
): Promise<PageRow> {
  const options = { write: false, long: true, ...entrantOf(call) };
  const read = (plan: QueryPlan) =>
    call.database.run((sql) => compileQuery(sql, plan, settings), options);
  try {
    let asked = plan;
    let [page] = await read(asked);
    if (asked.atOnce && page!.total === null) {
      asked = { ...asked, atOnce: false };
      [page] = await read(asked);
    }
    if (hasLarge(page!)) [page] = await read({ ...asked, measured: true });
    return page!;
  } catch (error) {
    throw await explainFailure(error, { call, plan, document: request.document });
  }
}

function hasLarge({ large }: PageRow): boolean {
  return large != null && large !== "0";
}

/** The page goes through as Postgres printed it: every digit, every microsecond. */
function printPage(plan: QueryPlan, page: PageRow): Answer {
  if (page.records === null) throw refuseSize(plan);
  const table = JSON.stringify(plan.table.name);
  const json = `{"success":true,"table":${table},"page":${plan.page},"per_page":${plan.perPage},` +
    `"total":${page.total},"records":${page.records}}`;
  return { json, rows: Number(page.rows) };
}

function refuseSize({ maxPageBytes }: QueryPlan): ApiError {
  const message = `per_page: The page is larger than ${maxPageBytes} bytes, ` +
    "expected fewer rows or fewer fields (select)";
  return new ApiError(400, message);
}
