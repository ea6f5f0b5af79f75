import { parseJsonInSlices } from "../json/parse_json.ts";
import { readExportRequest } from "../http/export_format.ts";
import { PAGE_TOKEN, printNextLink } from "../http/page_link.ts";
import { planQuery, type QueryPlan } from "../plan/query_plan.ts";
import type { Page } from "../records/read.ts";
import { useOfQuery } from "../request/body_parts.ts";
import { parseQueryRequest } from "../request/query_request.ts";
import { exportRecords } from "./export_records.ts";
import { defineOperation, type Operation, type Printed } from "./operation.ts";

/**
 * Query Records: one page of the rows that match, and how many match on all pages.
 * @see docs/specification/query.md
 */
export const queryRecords: Operation = defineOperation({
  name: "query_records",
  method: "POST",
  path: "/integration/tables/:table/query",
  scope: "query",
  otherForm(headers) {
    const asked = readExportRequest(headers.get("accept"));
    return asked && exportRecords(asked);
  },
  async parse(text, { config: { maxPatternCharacters } }) {
    const json = await parseJsonInSlices(text, { useOf: useOfQuery() });
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
