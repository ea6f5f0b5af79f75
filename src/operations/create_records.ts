import { MAX_NEW_RECORDS } from "../basics/errors/limits.ts";
import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { type CreateOptions, planCreate } from "../records/plan/create_plan.ts";
import { parseRecordsRequest, type RecordsRequest } from "../request/records_request.ts";
import { WITH_BODY } from "./description.ts";
import { defineOperation, type DescribedOperation, type PlanContext } from "./operation.ts";
import { ANY_OBJECT, COUNT, type JsonSchema, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";
import {
  IDEMPOTENCY_KEY,
  printBody,
  readIdempotencyArgument,
  readTableArgument,
} from "./tools/tool_arguments.ts";
import { updateOptionsOf } from "./update_parts.ts";

/** The text of a `json` value is at `records`, its number and its name. */
const DEPTH_OF_RECORDS = 3;

const RESULT: Readonly<Record<string, JsonSchema>> = {
  key: {
    anyOf: [{ ...ANY_OBJECT, description: "The columns of the primary key." }, { type: "null" }],
  },
  record: {
    ...ANY_OBJECT,
    description: "The row as it is stored, with `Prefer: return=representation`.",
  },
};

const RECORDS_ARGUMENT: JsonSchema = {
  type: "array",
  items: { type: "object", additionalProperties: true },
  minItems: 1,
  maxItems: MAX_NEW_RECORDS,
  description: "Columns and their values; describe_table says which are required.",
};

const TOOL: ToolDefinition = {
  title: "Create records",
  description: "Creates records, all or none. Columns that are left out have their defaults. The " +
    "result has the key of each record, in order. Call describe_table first: it says which columns " +
    "can be set and which are required.",
  writes: true,
  adds: true,
  properties: { records: RECORDS_ARGUMENT, idempotency_key: IDEMPOTENCY_KEY },
  optional: ["idempotency_key"],
  makeRequest(given) {
    const key = readIdempotencyArgument(given);
    return {
      table: readTableArgument(given),
      ...key,
      body: printBody(given, ["table", "idempotency_key"]),
    };
  },
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
  response: "Created",
  schemas: {
    Created: objectOf({
      success: TRUE,
      table: TEXT,
      created: COUNT,
      results: {
        type: "array",
        items: objectOf(RESULT, ["record"]),
        minItems: 1,
        maxItems: MAX_NEW_RECORDS,
        description: "One result for each record, in order.",
      },
    }),
  },
  sharedFrom: "brief",
  tool: TOOL,
  parse: parseRecords,
  plan: (request, context) => planCreate(request, createOptionsOf(context)),
  perform: (plan, records, request) => records.createRows(plan, request),
  print(created, { table, representation }) {
    const results = created.map(({ key, record }) =>
      representation ? `{"key":${key},"record":${record}}` : `{"key":${key}}`
    );
    const json = `{"success":true,"table":${JSON.stringify(table.name)},` +
      `"created":${created.length},"results":[${results}]}`;
    return { json, status: 201, rows: created.length };
  },
});

async function parseRecords(text: string): Promise<RecordsRequest> {
  const json = await parseJsonInSlices(text, { excess: "drop", valueDepth: DEPTH_OF_RECORDS });
  return parseRecordsRequest(json.value, json.issues, json);
}

function createOptionsOf(context: PlanContext): CreateOptions {
  const { wideNumbersAsText, preferences: { representation = false } } = context;
  return { ...updateOptionsOf("create_records", context), representation, wideNumbersAsText };
}
