import { MAX_BATCH_UPDATES } from "../basics/errors/limits.ts";
import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { planBatch } from "../records/plan/update_plan.ts";
import { type BatchRequest, parseBatchRequest } from "../request/batch_request.ts";
import { defineOperation, type DescribedOperation } from "./operation.ts";
import { FAILED_COUNT, FAILED_RESULT, printResults } from "./record_parts.ts";
import { objectOf, TEXT, TRUE } from "./schemas/json_schema.ts";
import { RETURNED } from "./schemas/response_schemas.ts";
import { printResult, UPDATE, updateOptionsOf } from "./update_parts.ts";

/**
 * Update Batch: several single updates in one transaction, in order; all or nothing.
 * @see docs/specification/updates.md#batch-several-single-updates
 */
export const updateBatch: DescribedOperation = defineOperation({
  name: "update_batch",
  method: "PATCH",
  path: "/integration/tables/:table/records/batch",
  scope: "update",
  preferences: "updateBatch",
  tag: "Records",
  summary: "Update Batch of Records",
  description: "Runs up to 200 single updates in one transaction, in order, each seeing those " +
    "before it. The first that matches no row or several, or is refused, undoes all of them; the " +
    "message begins with its place, such as `updates[3]`.",
  ...UPDATE,
  parameters: ["BatchPreferences", "IdempotencyKey"],
  body: "Batch",
  response: "UpdatedBatch",
  schemas: {
    UpdatedBatch: objectOf({
      success: TRUE,
      table: TEXT,
      failed: FAILED_COUNT,
      results: {
        type: "array",
        items: {
          anyOf: [
            objectOf({
              matched: { const: 1 },
              updated: { type: "integer", minimum: 0, maximum: 1 },
              record: RETURNED,
            }, ["record"]),
            FAILED_RESULT,
          ],
        },
        minItems: 1,
        maxItems: MAX_BATCH_UPDATES,
        description: "One result for each update, in order.",
      },
    }, ["failed"]),
  },
  sharedFrom: "terse",
  parse: parseBatch,
  plan: (request, context) => planBatch(request, updateOptionsOf("update_batch", context)),
  perform: (plan, records, request) => records.updateBatch(plan, request),
  print(results, { table: { name: table }, failed }) {
    const json = printResults({
      table,
      counts: {},
      failed: failed && results.filter((each) => "status" in each).length,
      results: results.map((one) =>
        "status" in one ? JSON.stringify(one) : `{${printResult(one)}}`
      ),
    });
    const isWritten = (each: typeof results[number]) => "updated" in each && each.updated === 1;
    return { json, rows: results.filter(isWritten).length };
  },
});

/** The text of a `json` value is at `updates`, its number, `fields` and its name. */
const DEPTH_OF_BATCH = 4;

async function parseBatch(text: string): Promise<BatchRequest> {
  const json = await parseJsonInSlices(text, { excess: "drop", valueDepth: DEPTH_OF_BATCH });
  return parseBatchRequest(json.value, json.issues, json);
}
