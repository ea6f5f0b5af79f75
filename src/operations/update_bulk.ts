import { ApiError } from "../basics/errors/api_error.ts";
import { planUpdate } from "../records/plan/update_plan.ts";
import { defineOperation, type DescribedOperation } from "./operation.ts";
import { COUNT, objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import type { ToolDefinition } from "./tools/tool_definition.ts";
import {
  IDEMPOTENCY_KEY,
  MAX_AFFECTED,
  printBody,
  readIdempotencyArgument,
  readMaxAffected,
  readTableArgument,
} from "./tools/tool_arguments.ts";
import { parseUpdateBody, UPDATE, UPDATE_ARGUMENTS, updateOptionsOf } from "./update_parts.ts";

const TOOL: ToolDefinition = {
  title: "Update several records",
  description:
    "Changes fields of every record that matches. `filters` are columns and the values that they " +
    "must equal. If more than `max_affected` records match, it is an error and nothing changes. Try " +
    "preview_update first, with the same filters, fields and max_affected.",
  writes: true,
  properties: {
    ...UPDATE_ARGUMENTS,
    max_affected: MAX_AFFECTED,
    idempotency_key: IDEMPOTENCY_KEY,
  },
  optional: ["idempotency_key"],
  makeRequest(given) {
    const [prefer] = readMaxAffected(given);
    if (prefer === undefined) {
      throw new ApiError(400, "max_affected: It is missing, expected a whole number from 0");
    }
    const key = readIdempotencyArgument(given);
    const body = printBody(given, ["table", "max_affected", "idempotency_key"]);
    return { table: readTableArgument(given), prefer, ...key, body };
  },
  result: "written",
};

/**
 * Update Bulk Records: changes fields of every row that matches; no match is not an error.
 * @see docs/specification/updates.md
 */
export const updateBulk: DescribedOperation = defineOperation({
  name: "update_bulk",
  method: "PATCH",
  path: "/integration/tables/:table/records/bulk",
  scope: "update",
  tag: "Records",
  summary: "Update Bulk Records",
  description: "Changes every row that matches, which may be none. Rows that already have the " +
    "values are neither written nor counted.",
  ...UPDATE,
  body: "Update",
  response: "UpdatedBulk",
  schemas: {
    UpdatedBulk: objectOf({ success: TRUE, table: TEXT, updated: COUNT }),
  },
  sharedFrom: "terse",
  tool: TOOL,
  parse: parseUpdateBody,
  plan: (request, context) => planUpdate(request, updateOptionsOf("update_bulk", context)),
  perform: (plan, records, request) => records.updateMany(plan, request),
  print(updated, { table }) {
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"updated":${updated}}`;
    return { json, rows: Number(updated) };
  },
});
