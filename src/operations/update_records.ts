import { parseJsonInSlices } from "../json/parse_json.ts";
import { fieldShapeOf } from "../plan/column.ts";
import { planUpdate, type UpdatePlan } from "../plan/update_plan.ts";
import { useOfUpdate } from "../request/body_parts.ts";
import { parseUpdateRequest, type UpdateRequest } from "../request/update_request.ts";
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
  plan: (request, context) => planUpdateOf("update_single", request, context),
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
  plan: (request, context) => planUpdateOf("update_bulk", request, context),
  perform: (plan, records, request) => records.updateMany(plan, request),
  print(updated, { table }) {
    const json = `{"success":true,"table":${JSON.stringify(table.name)},"updated":${updated}}`;
    return { json, rows: Number(updated) };
  },
});

async function parseUpdate(
  text: string,
  { table }: Pick<PlanContext, "table">,
): Promise<UpdateRequest> {
  const useOf = useOfUpdate((name) => fieldShapeOf(table, name));
  const json = await parseJsonInSlices(text, { useOf });
  return parseUpdateRequest(json.value, json.issues, json);
}

function planUpdateOf(
  operation: "update_single" | "update_bulk",
  request: UpdateRequest,
  { table, access, preferences: { maxAffected, rollback }, requestId, config }: PlanContext,
): UpdatePlan {
  const audited = config.audit ? { requestId, schema: config.schema, operation } : undefined;
  const { maxTsqueryCharacters } = config;
  const limits = { maxAffected, maxTsqueryCharacters };
  return planUpdate(request, { table, access, rollback, audited, ...limits });
}
