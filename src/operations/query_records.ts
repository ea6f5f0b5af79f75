import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { readExportRequest } from "../http/export_format.ts";
import { PAGE_TOKEN, printNextLink } from "../http/page_link.ts";
import { planQuery, type QueryPlan } from "../records/plan/query_plan.ts";
import type { Page } from "../records/read.ts";
import { parseQueryRequest } from "../request/query_request.ts";
import { WITH_BODY } from "./description.ts";
import { exportRecords } from "./export_records.ts";
import { defineOperation, type DescribedOperation, type Printed } from "./operation.ts";
import { describeQueryBody } from "./schemas/request_schemas.ts";
import { describePageOf } from "./schemas/response_schemas.ts";
import {
  CUT,
  type Properties,
  type ToolDefinition,
  type ToolRequest,
} from "./tools/tool_definition.ts";
import type { Arguments } from "./tools/tool_definition.ts";
import { printBody, readTableArgument, readTextArgument } from "./tools/tool_arguments.ts";

/** The arguments that the tool has in common with the body of the request. */
const QUERY = describeQueryBody((name) => `#/$defs/${name}`).Query!.properties as Properties;

const TOOL: ToolDefinition = {
  title: "Query records",
  description:
    "Returns one page of the records that match nested filters, and in `total` how many match in " +
    'all. Example: {"filters":{"and":[{"field":"status","op":"eq","value":"open"}]},"select":' +
    '["id","status"],"sort":[{"field":"id","direction":"desc"}],"per_page":20}. Select only the ' +
    `columns that you need. There are no sums, groups or joins. ${CUT}`,
  writes: false,
  properties: {
    ...QUERY,
    page_token: {
      type: "string",
      description:
        "start: begin with the first page, and if there are more the result has `next_page_token`. Else " +
        "that token, with the same filters and sort and without `page`. No record is skipped or repeated.",
    },
  },
  optional: [...Object.keys(QUERY), "page_token"],
  makeRequest: (given) => ({
    table: readTableArgument(given),
    ...readPageToken(given),
    body: printBody(given, ["table", "page_token"]),
  }),
  result: "page",
};

/** Asks for page tokens, and begins behind the one that is given. @see MC21 */
function readPageToken(given: Arguments): Pick<ToolRequest, "prefer" | "query"> {
  const token = readTextArgument(given, "page_token");
  if (token === "") return {};
  return { prefer: PAGE_TOKEN, ...(token !== "start" && { query: { after: token } }) };
}

/**
 * Query Records: one page of the rows that match, and how many match on all pages.
 * @see docs/specification/query.md
 */
export const queryRecords: DescribedOperation = defineOperation({
  name: "query_records",
  method: "POST",
  path: "/integration/tables/:table/query",
  scope: "query",
  tag: "Records",
  summary: "Query Records",
  description:
    "Returns one page of the rows that match, and how many match in all. Rows whose column is " +
    "NULL match none of `neq`, `not_in` and `not_like`; `is_null` finds them. " +
    "With `Accept: application/x-ndjson` or `text/csv` it is an export: every row that matches, as a " +
    "stream of one moment, without `page` and `per_page`. A stream that ends well is whole; of more " +
    "exports than may run at once, one is 503 with `Retry-After`.",
  parameters: ["QueryPreferences", "After", "Position"],
  body: "Query",
  response: "Page",
  responseOf: describePageOf,
  headers: ["Preference-Applied", "Link", "Rowgate-Order"],
  otherForms: {
    "application/x-ndjson": '{"id":1,"status":"open"}\n{"id":2,"status":"paid"}\n',
    "text/csv": "id,status\r\n1,open\r\n2,paid\r\n",
  },
  errors: [...WITH_BODY, 410],
  tool: TOOL,
  otherForm(headers) {
    const asked = readExportRequest(headers.get("accept"));
    return asked && exportRecords(asked);
  },
  async parse(text, { config: { maxPatternCharacters } }) {
    const json = await parseJsonInSlices(text, { excess: "reject" });
    return parseQueryRequest(json.value, json.issues, { maxPatternCharacters, source: json });
  },
  plan(request, { table, access, preferences, wideNumbersAsText, after, config }) {
    const { count, pageToken } = preferences;
    const { maxPageBytes, maxTsqueryCharacters } = config;
    const asked = { count, wideNumbersAsText, pageToken, after };
    return planQuery(request, { table, access, maxPageBytes, maxTsqueryCharacters, ...asked });
  },
  perform: (plan, records, request) => records.read(plan, request),
  print: printPage,
});

/** The records go out as Postgres printed them, and the page is emptied, as {@link takeJson} says. */
function printPage(result: Page, { table, perPage, sort }: QueryPlan): Printed {
  const { page, total, rows, records, continued } = result;
  result.records = "";
  const json = `{"success":true,"table":${JSON.stringify(table.name)},"page":${page},` +
    `"per_page":${perPage},"total":${total},"records":${records}}`;
  const unordered = page > 1 && sort.length === 0;
  if (continued === undefined) return { json, rows: Number(rows), unordered };
  const link = continued.token && printNextLink(table.name, continued.token);
  return { json, rows: Number(rows), applied: PAGE_TOKEN, link };
}
