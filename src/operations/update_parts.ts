import type { UpdateOptions } from "../plan/update_plan.ts";
import { parseJsonInSlices } from "../json/parse_json.ts";
import { parseUpdateRequest, type UpdateBody } from "../request/update_request.ts";
import { type Description, WITH_BODY } from "./description.ts";
import type { PlanContext } from "./operation.ts";
import { describeAnyTable } from "./schemas/response_schemas.ts";
import type { Properties } from "./tools/tool_definition.ts";

/** What the descriptions of the updates have in common. */
export const UPDATE = {
  parameters: ["UpdatePreferences", "IdempotencyKey"],
  headers: ["Preference-Applied", "Idempotent-Replayed", "Rowgate-Position"],
  errors: [...WITH_BODY, 409, 422],
  tables: { isPossible: ({ writable }) => writable, parameter: "WritableTable" },
} as const satisfies Partial<Description>;

/** The arguments that the tools have in common with the body of an update. */
export const UPDATE_ARGUMENTS: Properties = describeAnyTable((name) => ({
  $ref: `#/$defs/${name}`,
}))
  .Update!.properties as Properties;

/** Parses the body of an update of one row or many. @throws {ApiError} 400 */
export async function parseUpdateBody(text: string): Promise<UpdateBody> {
  const json = await parseJsonInSlices(text, { excess: "drop" });
  return parseUpdateRequest(json.value, json.issues, json);
}

/** Collects the options of a plan from the context of its request. */
export function updateOptionsOf(
  operation: "update_single" | "update_bulk" | "update_batch",
  { table, access, preferences: { maxAffected, rollback }, requestId, idempotency, config }:
    PlanContext,
): UpdateOptions {
  const audited = config.audit ? { requestId, schema: table.stored.schema, operation } : undefined;
  const { maxTsqueryCharacters } = config;
  return { table, access, rollback, audited, maxAffected, idempotency, maxTsqueryCharacters };
}
