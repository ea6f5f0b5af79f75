import { ApiError } from "../../basics/errors/api_error.ts";
import { quote } from "../../basics/errors/issue.ts";
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, NAME_PATTERN } from "../../basics/errors/limits.ts";
import { nearest } from "../../basics/text/nearest.ts";
import type { JsonSchema } from "../schemas/json_schema.ts";
import type { Arguments, ToolRequest } from "./tool_definition.ts";

/** Describes the argument of tools that list names. */
export const CONTAINS: JsonSchema = {
  type: "string",
  description: "Only those whose name or comment contains this text, in any case.",
};

/** Describes the argument that limits a write. */
export const MAX_AFFECTED: JsonSchema = {
  type: "integer",
  minimum: 0,
  description:
    "How many records may match, those that have the values already included. If more match, it is an " +
    "error that says how many, and nothing changes.",
};

/** Describes the argument that makes a write safe to repeat. */
export const IDEMPOTENCY_KEY: JsonSchema = {
  type: "string",
  minLength: 1,
  maxLength: MAX_IDEMPOTENCY_KEY_CHARACTERS,
  pattern: "^[ -~]+$",
  description:
    "New for each update, such as a UUID. If the result is lost, call again with the same arguments " +
    "and key: the update is not done twice, and the result is that of the first call.",
};

/** Returns an argument that is a text; empty where it was left out. */
export function readTextArgument(given: Arguments, name: string): string {
  const value = given.get(name);
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  throw new ApiError(400, `${name}: ${quote(value)} is not valid, expected a string`);
}

/** Returns the argument `table`. @throws {ApiError} 400 */
export function readTableArgument(given: Arguments): string {
  const table = given.get("table");
  if (table === undefined) {
    throw new ApiError(400, "table: It is missing, expected the name of a table");
  }
  if (typeof table === "string" && NAME_PATTERN.test(table)) return table;
  const expected = "expected letters, digits and underscores";
  throw new ApiError(400, `table: ${quote(table)} is not a table name, ${expected}`);
}

/** Returns the preference; nothing where there is no limit. */
export function readMaxAffected(given: Arguments): readonly string[] {
  const most = given.get("max_affected");
  if (most === undefined) return [];
  if (Number.isSafeInteger(most) && (most as number) >= 0) return [`max-affected=${most}`];
  const expected = "expected a whole number from 0";
  throw new ApiError(400, `max_affected: ${quote(most)} is not valid, ${expected}`);
}

/** Returns the header: a string in quotes. @see MC22 */
export function readIdempotencyArgument(given: Arguments): Pick<ToolRequest, "idempotencyKey"> {
  const key = given.get("idempotency_key");
  if (key === undefined) return {};
  const fits = typeof key === "string" && /^[ -~]+$/.test(key) &&
    key.length <= MAX_IDEMPOTENCY_KEY_CHARACTERS;
  if (fits) return { idempotencyKey: `"${key.replaceAll(/["\\]/g, "\\$&")}"` };
  const expected =
    `expected a string of 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters of ASCII`;
  throw new ApiError(400, `idempotency_key: ${quote(key)} is not valid, ${expected}`);
}

/** Prints the arguments that are the body of the request, as they were written. @see MC13 */
export function printBody(given: Arguments, others: readonly string[]): string {
  const members = given.names.filter((name) => !others.includes(name))
    .map((name) => `${JSON.stringify(name)}:${given.print(name)}`);
  return `{${members.join(",")}}`;
}

/** Rejects an argument that a tool does not have. @throws {ApiError} 400 */
export function rejectOthers(given: Arguments, known: readonly string[]): void {
  const name = given.names.find((each) => !known.includes(each));
  if (name === undefined) return;
  const meant = nearest(name, known);
  const expected = meant === undefined
    ? `expected ${known.join(", ")}`
    : `did you mean ${quote(meant)}?`;
  throw new ApiError(400, `${quote(name)} is not an argument of this tool, ${expected}`);
}
