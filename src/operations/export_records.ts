import { EXPORT_CONTENT_TYPES, type ExportRequest } from "../http/export_format.ts";
import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { type ExportPlan, planExport } from "../records/plan/export_plan.ts";
import { parseQueryRequest } from "../request/query_request.ts";
import { defineForm, type Operation } from "./operation.ts";

/**
 * Export: every row that a query matches, as a stream of lines. It has the path of a query, and is
 * requested by its media type in `Accept`.
 * @see docs/specification/export.md
 */
export function exportRecords(asked: ExportRequest): Operation {
  return defineForm({
    name: "export_records",
    method: "POST",
    path: "/integration/tables/:table/query",
    scope: "query",
    preferences: "export",
    async parse(text, { config: { maxPatternCharacters } }) {
      const json = await parseJsonInSlices(text, { excess: "reject" });
      const options = { maxPatternCharacters, source: json, exported: true };
      return parseQueryRequest(json.value, json.issues, options);
    },
    plan(request, { table, access, after, config, preferences }): ExportPlan {
      const { maxPageBytes: maxRecordBytes, maxTsqueryCharacters } = config;
      const { countAtEnd } = preferences;
      const options = { table, access, after, countAtEnd, maxRecordBytes, maxTsqueryCharacters };
      return planExport(request, { ...asked, ...options });
    },
    perform: (plan, records, request) => records.export(plan, request),
    print: (rows) => ({ exported: rows, type: EXPORT_CONTENT_TYPES[asked.format] }),
  });
}
