import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import { planOneRecord } from "../records/plan/one_plan.ts";
import type { Page } from "../records/read.ts";
import { parseOneRequest } from "../request/one_request.ts";
import { ON_TABLES } from "./description.ts";
import { printEtag } from "./etag.ts";
import { defineOperation, type DescribedOperation } from "./operation.ts";
import { describeOneOf } from "./schemas/response_schemas.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";
import type { Arguments } from "./tools/tool_definition.ts";
import { readTableArgument, rejectOthers } from "./tools/tool_arguments.ts";

const TOOL: ToolDefinition = {
  title: "Get one record",
  description:
    "Returns the one record whose columns equal `filters`, best those of the primary key. " +
    "It is an error if no record matches or several do.",
  writes: false,
  properties: {
    filters: {
      type: "object",
      description: "Columns and the values that they must equal.",
      additionalProperties: { type: ["string", "number", "boolean"] },
      minProperties: 1,
    },
    select: {
      type: "array",
      items: { type: "string" },
      description: "Columns of the record; all if left out or empty.",
    },
  },
  optional: ["select"],
  makeRequest(given) {
    rejectOthers(given, ["table", "filters", "select"]);
    return { table: readTableArgument(given), query: readOneQuery(given) };
  },
  result: "record",
};

/**
 * Get Single Record: the one row that matches, with its version.
 * @see docs/specification/one-record.md
 */
export const getSingle: DescribedOperation = defineOperation({
  name: "get_single",
  method: "GET",
  path: "/integration/tables/:table/records/single",
  scope: "query",
  preferences: "one",
  tag: "Records",
  summary: "Get Single Record",
  description:
    "Returns the one row whose columns equal the parameters of the query string, such as " +
    "`?order_no=A-7`; `select=a,b` names the columns to return, where no column is called `select`. " +
    "404 if no row matches and 409 if several do. `ETag` is the version of the row: it changes with " +
    "every write of the row, and `If-Match` on a single update takes it.",
  parameters: ["Equalities", "Select", "IfNoneMatch", "Position"],
  response: "OneRecord",
  responseOf: describeOneOf,
  headers: ["ETag"],
  errors: [...ON_TABLES, 409],
  sharedFrom: "brief",
  tool: TOOL,
  parse: (_text, { table, url }) =>
    Promise.resolve(parseOneRequest(url, { hasSelect: table.columns.has("select") })),
  plan(request, { table, access, wideNumbersAsText, config }) {
    const { maxPageBytes, maxTsqueryCharacters } = config;
    const limits = { maxPageBytes, maxTsqueryCharacters };
    return planOneRecord(request, { table, access, wideNumbersAsText, ...limits });
  },
  async perform(plan, records, request) {
    const page = await records.read(plan, request);
    rejectOthersThanOne(page);
    return page;
  },
  print(page, { table }) {
    const record = page.records.slice(1, -1);
    page.records = "";
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"record":${record}}`;
    const etag = page.tag == null ? undefined : printEtag(table, page.tag);
    return { json, rows: 1, etag };
  },
});

/** @throws {ApiError} 404 no row matches, 409 several do @see OR6 */
function rejectOthersThanOne({ total }: Page): void {
  const matched = Number(total);
  if (matched === 1) return;
  if (matched === 0) throw new ApiError(404, "No row matches the filters", { matched });
  const message = `${matched} rows match the filters, expected exactly one; ` +
    "to read them all, query them (POST …/query)";
  throw new ApiError(409, message, { matched });
}

/** @see MC23 */
function readOneQuery(given: Arguments): Readonly<Record<string, string>> {
  const filters = given.get("filters");
  if (typeof filters !== "object" || filters === null || Array.isArray(filters)) {
    throw new ApiError(400, `filters: ${quote(filters ?? null)} is not an object, expected one`);
  }
  const query: Record<string, string> = Object.create(null);
  for (const [name, value] of Object.entries(filters)) {
    if (value === null || typeof value === "object") {
      const expected = "expected a string, number or boolean";
      throw new ApiError(400, `filters.${name}: ${quote(value)} is not possible, ${expected}`);
    }
    query[name] = String(value);
  }
  const select = given.get("select") ?? [];
  const isList = Array.isArray(select) &&
    select.every((name) => typeof name === "string" && !name.includes(","));
  if (!isList) {
    throw new ApiError(400, `select: ${quote(select)} is not possible, expected a list of names`);
  }
  if (select.length > 0) query["select"] = select.join(",");
  return query;
}
