import { planDelete } from "../records/plan/delete_plan.ts";
import { DELETE, DELETE_ARGUMENTS, parseDeleteBody } from "./delete_parts.ts";
import { printEtag } from "./etag.ts";
import { defineOperation, type DescribedOperation } from "./operation.ts";
import { ANY_OBJECT, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";
import {
  IDEMPOTENCY_KEY,
  printBody,
  readIdempotencyArgument,
  readTableArgument,
} from "./tools/tool_arguments.ts";
import { updateOptionsOf } from "./update_parts.ts";

const TOOL: ToolDefinition = {
  title: "Delete one record",
  description:
    "Deletes exactly one record. It is an error, and nothing is deleted, if no record matches, if " +
    "several do, or if other records refer to it. `filters` are columns and the values that they must " +
    "equal, best those of the primary key.",
  writes: true,
  properties: { ...DELETE_ARGUMENTS, idempotency_key: IDEMPOTENCY_KEY },
  optional: ["idempotency_key"],
  makeRequest: (given) => ({
    table: readTableArgument(given),
    ...readIdempotencyArgument(given),
    body: printBody(given, ["table", "idempotency_key"]),
  }),
  result: "written",
};

/**
 * Delete Single Record: deletes exactly one row, or nothing.
 * @see docs/specification/deleting.md
 */
export const deleteSingle: DescribedOperation = defineOperation({
  name: "delete_single",
  method: "DELETE",
  path: "/integration/tables/:table/records/single",
  scope: "delete",
  preferences: "deleteSingle",
  obeysIfMatch: true,
  tag: "Records",
  summary: "Delete Single Record",
  description:
    "Deletes exactly one row. 404 if no row matches and 409 if several do, or if other rows " +
    "refer to it; then nothing is deleted.",
  ...DELETE,
  parameters: ["SingleDeletePreferences", "IfMatch", "IdempotencyKey"],
  headers: [...DELETE.headers, "ETag"],
  errors: [...DELETE.errors, 412],
  response: "DeletedSingle",
  schemas: {
    DeletedSingle: objectOf({
      success: TRUE,
      table: TEXT,
      matched: { const: 1 },
      deleted: { const: 1 },
      record: {
        ...ANY_OBJECT,
        description: "The row as it was; only with `Prefer: return=representation`.",
      },
    }, ["record"]),
  },
  sharedFrom: "brief",
  tool: TOOL,
  parse: parseDeleteBody,
  plan: (request, context) => planDelete(request, updateOptionsOf("delete_single", context)),
  perform: (plan, records, request) => records.updateOne(plan, request),
  print({ record, tag }, { table }) {
    const row = record === undefined ? "" : `,"record":${record}`;
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"matched":1,"deleted":1` +
      `${row}}`;
    return { json, rows: 1, etag: tag && printEtag(table, tag) };
  },
});
