import { planUpdate } from "../records/plan/update_plan.ts";
import { printEtag } from "./etag.ts";
import { defineOperation, type DescribedOperation } from "./operation.ts";
import { ANY_OBJECT, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import { RETURNED } from "./schemas/response_schemas.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";
import {
  IDEMPOTENCY_KEY,
  printBody,
  readIdempotencyArgument,
  readTableArgument,
} from "./tools/tool_arguments.ts";
import { parseUpdateBody, UPDATE, UPDATE_ARGUMENTS, updateOptionsOf } from "./update_parts.ts";

const TOOL: ToolDefinition = {
  title: "Update one record",
  description:
    "Changes fields of exactly one record. It is an error, and nothing changes, if no record " +
    "matches or several do. `filters` are columns and the values that they must equal, best those " +
    "of the primary key. `updated` is 0 if the record has the values already.",
  writes: true,
  properties: { ...UPDATE_ARGUMENTS, idempotency_key: IDEMPOTENCY_KEY },
  optional: ["idempotency_key"],
  makeRequest: (given) => ({
    table: readTableArgument(given),
    ...readIdempotencyArgument(given),
    body: printBody(given, ["table", "idempotency_key"]),
  }),
  result: "written",
};

/**
 * Update Single Record: changes fields of exactly one row, or nothing.
 * @see docs/specification/updates.md
 */
export const updateSingle: DescribedOperation = defineOperation({
  name: "update_single",
  method: "PATCH",
  path: "/integration/tables/:table/records/single",
  scope: "update",
  preferences: "updateSingle",
  obeysIfMatch: true,
  tag: "Records",
  summary: "Update Single Record",
  description: "Changes exactly one row. 404 if no row matches and 409 if several do; then " +
    "nothing is changed. `updated` is 0 if the row already has the values.",
  ...UPDATE,
  parameters: ["SinglePreferences", "IfMatch", "IdempotencyKey"],
  headers: [...UPDATE.headers, "ETag"],
  errors: [...UPDATE.errors, 412],
  body: "Update",
  response: "UpdatedSingle",
  schemas: {
    UpdatedSingle: objectOf({
      success: TRUE,
      table: TEXT,
      matched: { const: 1 },
      updated: { type: "integer", minimum: 0, maximum: 1 },
      fields: { ...ANY_OBJECT, description: "The values as they were sent." },
      record: RETURNED,
    }, ["record"]),
  },
  tool: TOOL,
  parse: parseUpdateBody,
  plan: (request, context) => planUpdate(request, updateOptionsOf("update_single", context)),
  perform: (plan, records, request) => records.updateOne(plan, request),
  print(written, { table }, { source, document }) {
    const { updated, record, tag } = written;
    const fields = source.print(document.fields);
    const row = record === undefined ? "" : `,"record":${record}`;
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"matched":1,` +
      `"updated":${updated},"fields":${fields}${row}}`;
    return { json, rows: updated, etag: tag && printEtag(table, tag) };
  },
});
