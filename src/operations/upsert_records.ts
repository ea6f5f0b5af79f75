import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { planUpsert } from "../records/plan/upsert_plan.ts";
import { parseUpsertRequest, type UpsertRequest } from "../request/records_request.ts";
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
import { COUNT, NAMES, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";
import { IDEMPOTENCY_KEY } from "./tools/tool_arguments.ts";

const TOOL: ToolDefinition = {
  title: "Create or update records",
  description: "Creates each record, or updates the row that has its values in the columns of " +
    "`match`; all or none. `match` names one of the `match_keys` of describe_table. Of a row that " +
    "exists only the columns that are sent change. The result says of each record whether it was " +
    "created, updated or unchanged, in order.",
  writes: true,
  properties: {
    match: { ...NAMES, minItems: 1, description: "The columns of one unique key." },
    records: RECORDS_ARGUMENT,
    idempotency_key: IDEMPOTENCY_KEY,
  },
  optional: ["idempotency_key"],
  makeRequest: makeRecordsRequest,
  result: "written",
};

/**
 * Upsert Records: creates up to 200 records, or updates the rows that have their match values.
 * @see docs/specification/upserting.md
 */
export const upsertRecords: DescribedOperation = defineOperation({
  name: "upsert_records",
  method: "PUT",
  path: "/integration/tables/:table/records",
  scope: "create",
  alsoScope: "update",
  preferences: "upsert",
  tag: "Records",
  summary: "Upsert Records",
  description: "Creates up to 200 records, or updates the rows that have their values in the " +
    "columns of `match`, in one transaction, all or none. `match` names one of the `match_keys` of " +
    "Get Fields. Of a row that exists only the members that are sent are set; a row that holds them " +
    "already is not written. `results` has the key of each record, and what was done with it.",
  parameters: ["CreatePreferences", "IdempotencyKey"],
  headers: ["Preference-Applied", "Idempotent-Replayed", "Rowgate-Position"],
  errors: [...WITH_BODY, 409, 422],
  tables: { isPossible: ({ matchKeys }) => matchKeys.length > 0, parameter: "MatchedTable" },
  body: "Upsert",
  response: "Upserted",
  schemas: {
    Upserted: objectOf({
      success: TRUE,
      table: TEXT,
      created: COUNT,
      updated: COUNT,
      unchanged: COUNT,
      failed: FAILED_COUNT,
      results: describeResults(
        objectOf(
          { ...RECORD_RESULT, outcome: { enum: ["created", "updated", "unchanged"] } },
          ["record"],
        ),
      ),
    }, ["failed"]),
  },
  sharedFrom: "brief",
  tool: TOOL,
  parse: parseUpsert,
  plan: (request, context) => planUpsert(request, recordOptionsOf("upsert_records", context)),
  perform: (plan, records, request) => records.upsertRows(plan, request),
  print(results, { table: { name: table }, representation, failed }) {
    const created = countResults(results, "created");
    const updated = countResults(results, "updated");
    const json = printResults({
      table,
      counts: { created, updated, unchanged: countResults(results, "unchanged") },
      failed: failed && countResults(results, "failed"),
      results: results.map((each) => printRecordResult(each, { representation, outcome: true })),
    });
    return { json, rows: created + updated };
  },
});

async function parseUpsert(text: string): Promise<UpsertRequest> {
  const json = await parseJsonInSlices(text, { excess: "drop", valueDepth: DEPTH_OF_RECORDS });
  return parseUpsertRequest(json.value, json.issues, json);
}
