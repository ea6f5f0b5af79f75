import { ApiError } from "../basics/errors/api_error.ts";
import { planDelete } from "../records/plan/delete_plan.ts";
import { DELETE, DELETE_ARGUMENTS, parseDeleteBody } from "./delete_parts.ts";
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
import { updateOptionsOf } from "./update_parts.ts";

const TOOL: ToolDefinition = {
  title: "Delete several records",
  description:
    "Deletes every record that matches. `filters` are columns and the values that they must equal. If " +
    "more than `max_affected` records match, or other records refer to one of them, it is an error and " +
    "nothing is deleted. Count them with query_records first.",
  writes: true,
  properties: {
    ...DELETE_ARGUMENTS,
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
 * Delete Bulk Records: deletes every row that matches; no match is not an error.
 * @see docs/specification/deleting.md
 */
export const deleteBulk: DescribedOperation = defineOperation({
  name: "delete_bulk",
  method: "DELETE",
  path: "/integration/tables/:table/records/bulk",
  scope: "delete",
  needsMaxAffected: true,
  tag: "Records",
  summary: "Delete Bulk Records",
  description:
    "Deletes every row that matches, which may be none. The request must say how many it may " +
    "delete at most: `Prefer: max-affected=N`.",
  ...DELETE,
  parameters: ["DeletePreferences", "IdempotencyKey"],
  response: "DeletedBulk",
  schemas: {
    DeletedBulk: objectOf({ success: TRUE, table: TEXT, deleted: COUNT }),
  },
  sharedFrom: "brief",
  tool: TOOL,
  parse: parseDeleteBody,
  plan: (request, context) => planDelete(request, updateOptionsOf("delete_bulk", context)),
  perform: (plan, records, request) => records.updateMany(plan, request),
  print(deleted, { table }) {
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"deleted":${deleted}}`;
    return { json, rows: Number(deleted) };
  },
});
