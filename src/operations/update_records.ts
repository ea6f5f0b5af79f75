import { MAX_BATCH_ENTRIES } from "../errors/limits.ts";
import { parseJsonInSlices } from "../json/parse_json.ts";
import { fieldShapeOf } from "../plan/column.ts";
import { planBatch, planUpdate, type UpdateOptions } from "../plan/update_plan.ts";
import { useOfBatch, useOfUpdate } from "../request/body_parts.ts";
import { type BatchRequest, parseBatchRequest } from "../request/batch_request.ts";
import { parseUpdateRequest, type UpdateBody } from "../request/update_request.ts";
import { defineOperation, type Operation, type PlanContext } from "./operation.ts";

/**
 * Update Single Record: changes fields of exactly one row, or nothing.
 * @see docs/specification/updates.md
 */
export const updateSingle: Operation = defineOperation({
  name: "update_single",
  method: "PATCH",
  path: "/integration/tables/:table/records/single",
  scope: "update",
  parse: parseUpdate,
  plan: (request, context) => planUpdate(request, optionsOf("update_single", context)),
  perform: (plan, records, request) => records.updateOne(plan, request),
  print(updated, { table }, { source, document }) {
    const fields = source.print(document.fields);
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"matched":1,` +
      `"updated":${updated},"fields":${fields}}`;
    return { json, rows: updated };
  },
});

/**
 * Update Bulk Records: changes fields of every row that matches; no match is not an error.
 * @see docs/specification/updates.md
 */
export const updateBulk: Operation = defineOperation({
  name: "update_bulk",
  method: "PATCH",
  path: "/integration/tables/:table/records/bulk",
  scope: "update",
  parse: parseUpdate,
  plan: (request, context) => planUpdate(request, optionsOf("update_bulk", context)),
  perform: (plan, records, request) => records.updateMany(plan, request),
  print(updated, { table }) {
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"updated":${updated}}`;
    return { json, rows: Number(updated) };
  },
});

/**
 * Update Batch: several single updates in one transaction, in order; all or nothing.
 * @see docs/specification/updates.md#batch-several-single-updates
 */
export const updateBatch: Operation = defineOperation({
  name: "update_batch",
  method: "PATCH",
  path: "/integration/tables/:table/records/batch",
  scope: "update",
  parse: parseBatch,
  plan: (request, context) => planBatch(request, optionsOf("update_batch", context)),
  perform: (plan, records, request) => records.updateBatch(plan, request),
  print(updated, { table }) {
    const results = updated.map((count) => `{"matched":1,"updated":${count}}`);
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"results":[${results}]}`;
    return { json, rows: updated.filter((count) => count === 1).length };
  },
});

async function parseUpdate(
  text: string,
  { table }: Pick<PlanContext, "table">,
): Promise<UpdateBody> {
  const useOf = useOfUpdate((name) => fieldShapeOf(table, name));
  const json = await parseJsonInSlices(text, { useOf });
  return parseUpdateRequest(json.value, json.issues, json);
}

/** The text of a `json` value is at `updates`, its number, `fields` and its name. */
const DEPTH_OF_BATCH = 4;

async function parseBatch(
  text: string,
  { table }: Pick<PlanContext, "table">,
): Promise<BatchRequest> {
  const useOf = useOfBatch((name) => fieldShapeOf(table, name));
  const reading = { useOf, valueDepth: DEPTH_OF_BATCH, maxTrimmed: MAX_BATCH_ENTRIES };
  const json = await parseJsonInSlices(text, reading);
  return parseBatchRequest(json.value, json.issues, json);
}

function optionsOf(
  operation: "update_single" | "update_bulk" | "update_batch",
  { table, access, preferences: { maxAffected, rollback }, requestId, idempotency, config }:
    PlanContext,
): UpdateOptions {
  const audited = config.audit ? { requestId, schema: table.stored.schema, operation } : undefined;
  const { maxTsqueryCharacters } = config;
  return { table, access, rollback, audited, maxAffected, idempotency, maxTsqueryCharacters };
}
