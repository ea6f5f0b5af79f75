import { parseJsonInSlices } from "../basics/json/parse_json.ts";
import { parseDeleteRequest, type UpdateBody } from "../request/update_request.ts";
import { type Description, WITH_BODY } from "./description.ts";
import { describeAnyTable } from "./schemas/response_schemas.ts";
import type { Properties } from "./tools/tool_definition.ts";

/** What the descriptions of the deletes have in common. */
export const DELETE = {
  headers: ["Preference-Applied", "Idempotent-Replayed", "Rowgate-Position"],
  errors: [...WITH_BODY, 409, 422],
  tables: { isPossible: ({ deletable }) => deletable, parameter: "DeletableTable" },
  body: "Delete",
} as const satisfies Partial<Description>;

/** The arguments that the tools have in common with the body of a delete. */
export const DELETE_ARGUMENTS: Properties = describeAnyTable((name) => ({
  $ref: `#/$defs/${name}`,
}))
  .Delete!.properties as Properties;

/** Parses the body of a delete of one row or many. @throws {ApiError} 400 */
export async function parseDeleteBody(text: string): Promise<UpdateBody> {
  const json = await parseJsonInSlices(text, { excess: "drop" });
  return parseDeleteRequest(json.value, json.issues, json);
}
