import { ApiError } from "../../basics/errors/api_error.ts";
import { quote } from "../../basics/errors/issue.ts";
import { updateBulk } from "../update_bulk.ts";
import { UPDATE, UPDATE_ARGUMENTS } from "../update_parts.ts";
import { updateSingle } from "../update_single.ts";
import type { Tool } from "./tool.ts";
import type { Arguments } from "./tool_definition.ts";
import { MAX_AFFECTED, printBody, readMaxAffected, readTableArgument } from "./tool_arguments.ts";

/** The operations that can be previewed, by the name of their tool; the first is the default. */
const PREVIEWED = new Map([["update_records", updateBulk], ["update_record", updateSingle]]);

/** Runs an update and rolls it back. It stands for two operations, with a preference. */
export const PREVIEW_UPDATE: Tool = {
  name: "preview_update",
  title: "Preview an update",
  description:
    "Runs an update with its triggers and constraints, and rolls it back: nothing is changed. " +
    "`updated` is how many records would change; those that match but have the values already are " +
    "not counted. Previews update_records unless `tool` says update_record.",
  writes: false,
  scopes: ["update"],
  isPossible: UPDATE.tables.isPossible,
  properties: {
    ...UPDATE_ARGUMENTS,
    tool: {
      type: "string",
      enum: [...PREVIEWED.keys()],
      description: "Which update is previewed; update_records if left out.",
    },
    max_affected: MAX_AFFECTED,
  },
  optional: ["tool", "max_affected"],
  operationOf: readPreviewed,
  makeRequest(given) {
    const prefer = ["tx=rollback", ...readMaxAffected(given)].join(", ");
    const body = printBody(given, ["table", "tool", "max_affected"]);
    return { table: readTableArgument(given), prefer, body };
  },
  result: "preview",
};

function readPreviewed(given: Arguments) {
  const name = given.get("tool") ?? "update_records";
  const operation = PREVIEWED.get(name as string);
  if (operation !== undefined) return operation;
  const expected = 'expected "update_record" or "update_records"';
  throw new ApiError(400, `tool: ${quote(name)} is not valid, ${expected}`);
}
