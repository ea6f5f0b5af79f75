import type { Column } from "../../catalogue/catalogue.ts";
import { pathOf, rejectIssues } from "../../basics/errors/issue.ts";
import type { QueryRequest } from "../../request/query_request.ts";
import { planQuery, type QueryOptions, type QueryPlan } from "./query_plan.ts";

/** An export after all checks: a query without pages, and the form of its rows. */
export interface ExportPlan extends
  Pick<
    QueryPlan,
    "table" | "scope" | "predicate" | "columns" | "sort" | "wideNumbersAsText"
  > {
  readonly format: "ndjson" | "csv";
  /** Bytes of a record at most. */
  readonly maxRecordBytes: number;
  /** True: the last line is the number of records. */
  readonly countAtEnd?: true | undefined;
}

/** What an export is planned against, and what the headers ask for. */
export interface ExportOptions
  extends Pick<QueryOptions, "table" | "access" | "wideNumbersAsText" | "maxTsqueryCharacters"> {
  readonly format: ExportPlan["format"];
  readonly maxRecordBytes: number;
  readonly countAtEnd?: true | undefined;
  /** The page token in the address of the request. */
  readonly after: string | undefined;
}

/**
 * Plans an export as the query that it is, with the tenant's scope.
 * @throws {ApiError} 400 as {@link planQuery}, and for a page token
 * @see EX3, EX5
 */
export function planExport(request: QueryRequest, options: ExportOptions): ExportPlan {
  const { format, maxRecordBytes, countAtEnd, after, ...asked } = options;
  if (after !== undefined) {
    const message = "An export has every row that matches, expected no page token";
    throw rejectIssues([{ path: pathOf("after"), message }], request.document);
  }
  const { table, scope, predicate, columns, sort, wideNumbersAsText } = planQuery(request, {
    ...asked,
    count: false,
  });
  const planned = { table, scope, predicate, columns, sort, wideNumbersAsText };
  return { ...planned, format, maxRecordBytes, ...(countAtEnd && { countAtEnd }) };
}

/** How a column of an export is read from Postgres. */
export type ExportedAs = "number" | "boolean" | "text" | "json";

/**
 * Types that `to_json` prints as their text, with only quotes and escapes added. Printing these here
 * takes Postgres a third of the time.
 */
const PRINTED: ReadonlyMap<string, ExportedAs> = new Map([
  ...["int2", "int4", "int8", "float4", "float8", "numeric"].map((name) =>
    [name, "number"] as const
  ),
  ...["text", "varchar", "bpchar", "uuid", "bytea"].map((name) => [name, "text"] as const),
  ["bool", "boolean"] as const,
].map(([name, as]) => [`pg_catalog.${name}`, as]));

/** Returns how a column is read: as the text of its value, or as JSON. */
export function exportedAs(
  column: Column,
  { wideNumbersAsText }: Pick<ExportPlan, "wideNumbersAsText">,
): ExportedAs {
  const found = PRINTED.get(column.cast) ?? "json";
  return found === "number" && wideNumbersAsText && column.wideNumber ? "text" : found;
}
