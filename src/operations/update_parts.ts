import type { UpdateOptions } from "../records/plan/update_plan.ts";
import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { planReturned } from "../records/plan/returned.ts";
import { rejectNoVersions } from "../records/version_key.ts";
import type { WrittenOne } from "../records/written_one.ts";
import { parseUpdateRequest, type UpdateBody } from "../request/update_request.ts";
import { type Description, WITH_BODY } from "./description.ts";
import { readVersion } from "./etag.ts";
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
  operation: string,
  context: PlanContext,
): UpdateOptions {
  const { table, access, requestId, idempotency, config } = context;
  const { maxAffected, rollback, representation, continues } = context.preferences;
  const audited = config.audit ? { requestId, schema: table.stored.schema, operation } : undefined;
  const { maxTsqueryCharacters, maxPageBytes } = config;
  const { wideNumbersAsText } = context;
  const versioned = operation === "update_single" || operation === "delete_single";
  const reading = { table, access, wideNumbersAsText, maxPageBytes, versioned };
  return {
    table,
    access,
    rollback,
    audited,
    maxAffected,
    idempotency,
    continues,
    maxTsqueryCharacters,
    expected: expectedOf(context),
    returned: representation && ((rows) => planReturned({ rows, ...reading })),
  };
}

/**
 * Returns the versions of which the row must have one; undefined: any row will do.
 * @throws {ApiError} 412 rows of the table have no versions
 */
function expectedOf({ table, ifMatch }: PlanContext): readonly string[] | undefined {
  if (ifMatch === undefined) return undefined;
  if (!table.pinnable) throw rejectNoVersions();
  return ifMatch === "any" ? undefined : ifMatch.map(readVersion);
}

/** Prints the members that results of updates have in common, with the row where it is returned. */
export function printResult({ updated, record }: WrittenOne): string {
  const row = record === undefined ? "" : `,"record":${record}`;
  return `"matched":1,"updated":${updated}${row}`;
}
