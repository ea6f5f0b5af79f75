import type { Column, Table } from "../../catalogue/catalogue.ts";
import { pathOf, quote, rejectIssues, under } from "../../basics/errors/issue.ts";
import { MAX_PAGE_BYTES, MAX_TSQUERY_CHARACTERS } from "../../basics/errors/limits.ts";
import type { QueryRequest } from "../../request/query_request.ts";
import type { Access } from "../../access/tokens/token.ts";
import { type Findings, planEach, resolveColumn } from "./column.ts";
import { planGroup } from "./filters.ts";
import { readsKeysFirst } from "./keys.ts";
import type { Predicate } from "./predicate.ts";
import { planScope, type Scope } from "./scope.ts";
import { type OrderKey, planTotalOrder } from "./total_order.ts";

const SELECT = pathOf("select");
const SORT = pathOf("sort");

/** A query after all checks. Only the database can still reject it. */
export interface QueryPlan {
  readonly table: Table;
  readonly scope: Scope;
  readonly predicate: Predicate | undefined;
  /** Never empty, no column twice. */
  readonly columns: readonly Column[];
  readonly sort: readonly OrderKey[];
  readonly page: number;
  readonly perPage: number;
  /** False on `Prefer: count=none`. */
  readonly count: boolean;
  /** True: the matching rows are read once for both page and total, unless there are too many. */
  readonly oneReading: boolean;
  /** True: the rows before the page are skipped in the index of the key, and never read. */
  readonly keysFirst: boolean;
  /** True on `IEEE754Compatible=true`: 64-bit integers and numeric as strings. */
  readonly wideNumbersAsText: boolean;
  /** Bytes of a page at most. */
  readonly maxPageBytes: number;
  /**
   * Set on `Prefer: page-token` and if the request has a page token; undefined: pages have numbers
   * only.
   */
  readonly continued: Continued | undefined;
  /** True: every value is measured before the page is printed, because a record may be large. */
  readonly measured: boolean;
  /** True: exactly one record is wanted, with the version of its row. */
  readonly versioned?: boolean | undefined;
  /** The key of the versions, once the plan is run; undefined: versions are not read. */
  readonly versionKey?: string | undefined;
}

/** The order and position of a page that is read with page tokens. */
export interface Continued {
  /** `sort` and the key: no two rows are equal in it. */
  readonly order: readonly OrderKey[];
  /** The page token of the request, not opened yet; undefined on the first page. */
  readonly token: string | undefined;
  /** Values of `order` in the last row before the page; undefined on the first page. */
  readonly after: readonly (string | null)[] | undefined;
}

/** A plan of a page that is read with page tokens. */
export type ContinuedPlan = QueryPlan & { readonly continued: Continued };

/** What a query is planned against, and what the headers ask for. */
export interface QueryOptions {
  readonly table: Table;
  readonly access: Access;
  readonly count: boolean;
  readonly wideNumbersAsText: boolean;
  readonly maxPageBytes?: number;
  readonly maxTsqueryCharacters?: number;
  /** True: the response has the address of the next page. */
  readonly pageToken?: boolean;
  /** The page token in the address of the request. */
  readonly after?: string | undefined;
}

/**
 * Resolves the names of a query to columns, checks its values and adds the tenant's scope.
 * @throws {ApiError} 400 at the path of each name or value that does not fit the table
 * @see docs/specification/query.md
 */
export function planQuery(request: QueryRequest, options: QueryOptions): QueryPlan {
  const { table, access, count, wideNumbersAsText, maxPageBytes = MAX_PAGE_BYTES } = options;
  const { maxTsqueryCharacters = MAX_TSQUERY_CHARACTERS } = options;
  const findings: Findings = { issues: [], source: request.source, maxTsqueryCharacters };
  const predicate = request.filters && planGroup(request.filters, { table, findings });
  const columns = planSelect(request.select, table, findings);
  const sort = planSort(request.sort, table, findings);
  const continued = planContinued(sort, { request, options, findings });
  if (findings.issues.length > 0) {
    throw rejectIssues(findings.issues, request.document, { stale: true });
  }
  const scope = planScope(table, access);
  const { page, perPage } = request;
  const oneReading = count && readsAll(continued?.order ?? sort, table);
  const keysFirst = !oneReading && continued === undefined &&
    readsKeysFirst({ table, scope, predicate, sort, page, perPage });
  return {
    table,
    scope,
    predicate,
    columns,
    sort: continued?.order ?? sort,
    page,
    perPage,
    count,
    oneReading,
    keysFirst,
    wideNumbersAsText,
    maxPageBytes,
    continued,
    measured: false,
  };
}

/**
 * Plans a page with page tokens. A page token has the number of its page, so the body must not have
 * one.
 */
function planContinued(
  sort: QueryPlan["sort"],
  { request, options, findings }: {
    readonly request: QueryRequest;
    readonly options: QueryOptions;
    readonly findings: Findings;
  },
): Continued | undefined {
  const { table, pageToken = false, after: token } = options;
  if (!pageToken && token === undefined) return undefined;
  if (token !== undefined && request.page > 1) {
    const message =
      `${request.page} cannot be combined with a page token, which contains the page number, ` +
      "expected no page";
    findings.issues.push({ path: pathOf("page"), message });
  }
  const order = planTotalOrder(sort, table);
  if ("message" in order) {
    findings.issues.push(order);
    return undefined;
  }
  return { order, token, after: undefined };
}

/** Reports whether all matching rows must be read to find the first: no index has the order. */
function readsAll([first]: QueryPlan["sort"], table: Table): boolean {
  return first !== undefined && !table.orderedByIndex.has(first.column.identifier);
}

/** Plans the columns of a record; all if none are named. */
export function planSelect(select: readonly string[], table: Table, findings: Findings): Column[] {
  if (select.length === 0) return [...table.columns.values()];
  const columns = planEach(
    select,
    findings,
    (name, position) => resolveColumn(table, name, { path: under(SELECT, position), findings }),
  );
  return [...new Set(columns)];
}

/** Plans the sort. A repeated column cannot change the order, so only its first place counts. */
function planSort(
  sort: QueryRequest["sort"],
  table: Table,
  findings: Findings,
): QueryPlan["sort"] {
  const keys = planEach(sort, findings, ({ field, direction }, position) => {
    const path = under(under(SORT, position), "field");
    const column = resolveColumn(table, field, { path, findings });
    if (column === undefined) return undefined;
    if (column.order) return { column, descending: direction === "desc" };
    const message = `Column ${quote(column.name)} of type ${column.type} has no order, ` +
      "expected a column that can be sorted";
    findings.issues.push({ path, message });
    return undefined;
  });
  const seen = new Set<Column>();
  return keys.filter(({ column }) => !seen.has(column) && seen.add(column));
}
