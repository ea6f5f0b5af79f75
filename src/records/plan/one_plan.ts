import type { Table } from "../../catalogue/catalogue.ts";
import { rejectIssues } from "../../basics/errors/issue.ts";
import { MAX_PAGE_BYTES, MAX_TSQUERY_CHARACTERS } from "../../basics/errors/limits.ts";
import type { OneRequest } from "../../request/one_request.ts";
import { type Findings, planEach } from "./column.ts";
import { planEquality } from "./condition.ts";
import { planSelect, type QueryOptions, type QueryPlan } from "./query_plan.ts";
import { planScope } from "./scope.ts";

/** Two rows show that there is not exactly one. */
const ROWS = 2;

/**
 * Plans a request for one record as a page of at most two, and the number of rows that match.
 * @throws {ApiError} 400 at each name or value that does not fit the table
 * @see OR1, OR6
 */
export function planOneRecord(
  request: OneRequest,
  options: Omit<QueryOptions, "count" | "pageToken" | "after"> & { readonly table: Table },
): QueryPlan {
  const { table, access, wideNumbersAsText, maxPageBytes = MAX_PAGE_BYTES } = options;
  const { maxTsqueryCharacters = MAX_TSQUERY_CHARACTERS } = options;
  const findings: Findings = { issues: [], source: request.source, maxTsqueryCharacters };
  const items = planEach(
    request.filters,
    findings,
    ([field, value]) => planEquality({ field, value, holder: null }, table, findings),
  );
  const columns = planSelect(request.select, table, findings);
  if (findings.issues.length > 0) {
    throw rejectIssues(findings.issues, request.document, { stale: true });
  }
  return {
    table,
    scope: planScope(table, access),
    predicate: { kind: "and", items },
    columns,
    sort: [],
    page: 1,
    perPage: ROWS,
    count: true,
    oneReading: false,
    keysFirst: false,
    wideNumbersAsText,
    maxPageBytes,
    continued: undefined,
    measured: false,
    versioned: true,
  };
}
