import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { planCreate } from "../records/plan/create_plan.ts";
import { parseRecordsRequest, type RecordsRequest } from "../request/records_request.ts";
import { WITH_BODY } from "./description.ts";
import { defineOperation, type DescribedOperation } from "./operation.ts";
import {
  countResults,
  DEPTH_OF_RECORDS,
  describeResults,
  FAILED_COUNT,
  makeRecordsRequest,
  printRecordResult,
  printResults,
  RECORD_RESULT,
  recordOptionsOf,
  RECORDS_ARGUMENT,
} from "./record_parts.ts";
import { COUNT, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";
import { IDEMPOTENCY_KEY } from "./tools/tool_arguments.ts";

const TOOL: ToolDefinition = {
  title: "Create records",
  description: "Creates records, all or none. Columns that are left out have their defaults. The " +
    "result has the key of each record, in order. Call describe_table first: it says which columns " +
    "can be set and which are required.",
  writes: true,
  adds: true,
  properties: { records: RECORDS_ARGUMENT, idempotency_key: IDEMPOTENCY_KEY },
  optional: ["idempotency_key"],
  makeRequest: makeRecordsRequest,
  result: "written",
};

/**
 * Create Records: inserts up to 200 rows, all or none.
 * @see docs/specification/creating.md
 */
export const createRecords: DescribedOperation = defineOperation({
  name: "create_records",
  method: "POST",
  path: "/integration/tables/:table/records",
  scope: "create",
  tag: "Records",
  summary: "Create Records",
  description: "Creates up to 200 records in one transaction, all or none. The tenant is that of " +
    "the token. A column that is left out has its default; Get Fields says which are `required`. " +
    "`results` has the key of each record in the order of the request.",
  parameters: ["CreatePreferences", "IdempotencyKey"],
  headers: ["Preference-Applied", "Idempotent-Replayed", "Rowgate-Position"],
  errors: [...WITH_BODY, 409, 422],
  tables: { isPossible: ({ creatable }) => creatable, parameter: "CreatableTable" },
  body: "Create",
  status: 201,
  otherStatus: 200,
  response: "Created",
  schemas: {
    Created: objectOf({
      success: TRUE,
      table: TEXT,
      created: COUNT,
      failed: FAILED_COUNT,
      results: describeResults(objectOf(RECORD_RESULT, ["record"])),
    }, ["failed"]),
  },
  sharedFrom: "brief",
  tool: TOOL,
  parse: parseRecords,
  plan: (request, context) => planCreate(request, recordOptionsOf("create_records", context)),
  perform: (plan, records, request) => records.createRows(plan, request),
  print(results, { table: { name: table }, representation, failed }) {
    const created = countResults(results, "created");
    const json = printResults({
      table,
      counts: { created },
      failed: failed && countResults(results, "failed"),
      results: results.map((each) => printRecordResult(each, { representation, outcome: false })),
    });
    return { json, status: failed === undefined ? 201 : 200, rows: created };
  },
});

async function parseRecords(text: string): Promise<RecordsRequest> {
  const json = await parseJsonInSlices(text, { excess: "drop", valueDepth: DEPTH_OF_RECORDS });
  return parseRecordsRequest(json.value, json.issues, json);
}
