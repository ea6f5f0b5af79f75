import type { Column, Table } from "../catalogue/catalogue.ts";
import { pathOf, quote, rejectIssues, under } from "../errors/issue.ts";
import { MAX_PAGE_BYTES } from "../errors/limits.ts";
import type { QueryRequest } from "../request/query_request.ts";
import type { Access } from "../tokens/token.ts";
import { collect, type Findings, resolveColumn } from "./column.ts";
import { planGroup } from "./filters.ts";
import { readsKeysFirst } from "./keys.ts";
import type { Predicate } from "./predicate.ts";
import { planScope, type Scope } from "./scope.ts";

const SELECT = pathOf("select");
const SORT = pathOf("sort");

/** A query that can not be refused any more. */
export interface QueryPlan {
  readonly table: Table;
  readonly scope: Scope;
  readonly predicate: Predicate | undefined;
  /** Never empty, no column twice. */
  readonly columns: readonly Column[];
  readonly sort: readonly { readonly column: Column; readonly descending: boolean }[];
  readonly page: number;
  readonly perPage: number;
  /** False on `Prefer: count=none`. */
  readonly count: boolean;
  /** True: page and total come from one reading of the rows that match; not when those are many. */
  readonly oneReading: boolean;
  /** True: the rows before the page are passed over in the key's index, only those on it are read. */
  readonly keysFirst: boolean;
  /** True on `IEEE754Compatible=true`: 64-bit integers and numeric as strings. */
  readonly wideNumbersAsText: boolean;
  /** Bytes of a page at most. */
  readonly maxPageBytes: number;
  /** True: each value is measured before the page is printed, since some row may be large. */
  readonly measured: boolean;
}

/** What a query is planned against, and what headers asked for. */
export interface QueryOptions {
  readonly table: Table;
  readonly access: Access;
  readonly count: boolean;
  readonly wideNumbersAsText: boolean;
  readonly maxPageBytes?: number;
}

/**
 * Turns a query's names into columns, checks its values and puts the tenant's scope in.
 * @throws {ApiError} 400 at the path of each name or value that the table does not admit
 * @see docs/specification/query.md
 */
export function planQuery(request: QueryRequest, options: QueryOptions): QueryPlan {
  const { table, access, count, wideNumbersAsText, maxPageBytes = MAX_PAGE_BYTES } = options;
  const findings: Findings = { issues: [], source: request.source };
  const predicate = request.filters && planGroup(request.filters, { table, findings });
  const columns = planSelect(request.select, table, findings);
  const sort = planSort(request.sort, table, findings);
  if (findings.issues.length > 0) {
    throw rejectIssues(findings.issues, request.document, { stale: true });
  }
  const scope = planScope(table, access);
  const { page, perPage } = request;
  const oneReading = count && readsAll(sort, table);
  const keysFirst = !oneReading && readsKeysFirst({ table, scope, predicate, sort, page, perPage });
  return {
    table,
    scope,
    predicate,
    columns,
    sort,
    page,
    perPage,
    count,
    oneReading,
    keysFirst,
    wideNumbersAsText,
    maxPageBytes,
    measured: false,
  };
}

/** Where no index gives the order, every row that matches is read before the first one is known. */
function readsAll([first]: QueryPlan["sort"], table: Table): boolean {
  return first !== undefined && !table.ordered.has(first.column.identifier);
}

function planSelect(select: readonly string[], table: Table, findings: Findings): Column[] {
  if (select.length === 0) return [...table.columns.values()];
  const columns = collect(
    select,
    findings,
    (name, position) => resolveColumn(table, name, { path: under(SELECT, position), findings }),
  );
  return [...new Set(columns)];
}

/** A column that comes again can't change the order: its first place counts. */
function planSort(
  sort: QueryRequest["sort"],
  table: Table,
  findings: Findings,
): QueryPlan["sort"] {
  const keys = collect(sort, findings, ({ field, direction }, position) => {
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
