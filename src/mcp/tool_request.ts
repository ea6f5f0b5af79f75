import { ApiError } from "../errors/api_error.ts";
import { quote } from "../errors/issue.ts";
import { MAX_IDEMPOTENCY_KEY_CHARACTERS, NAME_PATTERN } from "../errors/limits.ts";
import { PAGE_TOKEN } from "../http/page_link.ts";
import type { ToolName } from "../interface/mcp/tool_names.ts";
import { listFields, listTables } from "../operations/describe.ts";
import { listChanges } from "../operations/list_changes.ts";
import type { Operation } from "../operations/operation.ts";
import { queryRecords } from "../operations/query_records.ts";
import { updateBulk, updateSingle } from "../operations/update_records.ts";
import { nearest } from "../text/nearest.ts";
import type { Arguments } from "./read_message.ts";

/** The request of an operation that the call of a tool stands for. */
export interface ToolRequest {
  readonly operation: Operation;
  /** Empty: the operation is about no table. */
  readonly table: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly prefer?: string;
  readonly idempotencyKey?: string;
  /** The text of its body; undefined: it has none. */
  readonly body?: string;
}

/**
 * Makes the request of a call. It checks what the request does not have, as its table; everything else
 * is checked by the operation.
 * @throws {ApiError} 400 at the argument
 * @see MC8, MC10, MC11
 */
export function makeToolRequest(name: ToolName, given: Arguments): ToolRequest {
  switch (name) {
    case "list_tables":
      rejectOthers(given, ["contains"]);
      readText(given, "contains");
      return { operation: listTables, table: "" };
    case "describe_table":
      rejectOthers(given, ["table", "contains"]);
      readText(given, "contains");
      return { operation: listFields, table: readTable(given) };
    case "query_records":
      return {
        operation: queryRecords,
        table: readTable(given),
        ...readPageToken(given),
        body: printBody(given, ["table", "page_token"]),
      };
    case "list_changes":
      rejectOthers(given, ["table", "since", "limit", "wait", "fields"]);
      return { operation: listChanges, table: readTable(given), query: readChangesQuery(given) };
    case "preview_update": {
      const operation = readPreviewed(given) === "update_record" ? updateSingle : updateBulk;
      const prefer = ["tx=rollback", ...readMaxAffected(given)].join(", ");
      const body = printBody(given, ["table", "tool", "max_affected"]);
      return { operation, table: readTable(given), prefer, body };
    }
    case "update_record":
      return {
        operation: updateSingle,
        table: readTable(given),
        ...readIdempotencyKey(given),
        body: printBody(given, ["table", "idempotency_key"]),
      };
    case "update_records": {
      const [prefer] = readMaxAffected(given);
      if (prefer === undefined) {
        throw new ApiError(400, "max_affected: It is missing, expected a whole number from 0");
      }
      const key = readIdempotencyKey(given);
      const body = printBody(given, ["table", "max_affected", "idempotency_key"]);
      return { operation: updateBulk, table: readTable(given), prefer, ...key, body };
    }
  }
}

/** Returns an argument that is a text; empty where it was left out. */
export function readText(given: Arguments, name: string): string {
  const value = given.get(name);
  if (value === undefined) return "";
  if (typeof value === "string") return value;
  throw new ApiError(400, `${name}: ${quote(value)} is not possible, expected a string`);
}

function readTable(given: Arguments): string {
  const table = given.get("table");
  if (table === undefined) {
    throw new ApiError(400, "table: It is missing, expected the name of a table");
  }
  if (typeof table === "string" && NAME_PATTERN.test(table)) return table;
  const expected = "expected letters, digits and underscores";
  throw new ApiError(400, `table: ${quote(table)} is not a table name, ${expected}`);
}

/** Returns the preference; nothing where there is no limit. */
function readMaxAffected(given: Arguments): readonly string[] {
  const most = given.get("max_affected");
  if (most === undefined) return [];
  if (Number.isSafeInteger(most) && (most as number) >= 0) return [`max-affected=${most}`];
  const expected = "expected a whole number from 0";
  throw new ApiError(400, `max_affected: ${quote(most)} is not possible, ${expected}`);
}

/** Asks for page tokens, and begins behind the one that is given. @see MC21 */
function readPageToken(given: Arguments): Pick<ToolRequest, "prefer" | "query"> {
  const token = readText(given, "page_token");
  if (token === "") return {};
  return { prefer: PAGE_TOKEN, ...(token !== "start" && { query: { after: token } }) };
}

/** Makes the same request for a page of fewer rows; what follows it is behind its page token. */
export function askForFewer(request: ToolRequest, given: Arguments, rows: number): ToolRequest {
  const body = printBody(given, ["table", "page_token", "per_page"]);
  const perPage = `"per_page":${rows}`;
  return { ...request, body: body === "{}" ? `{${perPage}}` : `${body.slice(0, -1)},${perPage}}` };
}

/** Returns the header: a string in quotes. @see MC22 */
function readIdempotencyKey(given: Arguments): Pick<ToolRequest, "idempotencyKey"> {
  const key = given.get("idempotency_key");
  if (key === undefined) return {};
  const fits = typeof key === "string" && /^[ -~]+$/.test(key) &&
    key.length <= MAX_IDEMPOTENCY_KEY_CHARACTERS;
  if (fits) return { idempotencyKey: `"${key.replaceAll(/["\\]/g, "\\$&")}"` };
  const expected =
    `expected a string of 1 to ${MAX_IDEMPOTENCY_KEY_CHARACTERS} characters of ASCII`;
  throw new ApiError(400, `idempotency_key: ${quote(key)} is not possible, ${expected}`);
}

function readPreviewed(given: Arguments): string {
  const tool = given.get("tool") ?? "update_records";
  if (tool === "update_record" || tool === "update_records") return tool;
  const expected = 'expected "update_record" or "update_records"';
  throw new ApiError(400, `tool: ${quote(tool)} is not possible, ${expected}`);
}

function readChangesQuery(given: Arguments): Readonly<Record<string, string>> {
  const query: Record<string, string> = {};
  const since = readText(given, "since");
  if (since !== "") query.since = since;
  for (const name of ["limit", "wait"]) {
    const number = given.get(name);
    if (number === undefined) continue;
    if (typeof number !== "number") {
      throw new ApiError(400, `${name}: ${quote(number)} is not possible, expected a number`);
    }
    query[name] = given.print(name);
  }
  const fields = given.get("fields");
  if (fields === undefined) return query;
  if (!Array.isArray(fields) || !fields.every((field) => typeof field === "string")) {
    throw new ApiError(400, `fields: ${quote(fields)} is not possible, expected a list of names`);
  }
  const list = fields.find((field) => field.includes(","));
  if (list !== undefined) {
    throw new ApiError(400, `fields: ${quote(list)} is not a name, expected a list of names`);
  }
  if (fields.length > 0) query.fields = fields.join(",");
  return query;
}

/** Prints the arguments that are the body of the request, as they were written. @see MC13 */
function printBody(given: Arguments, others: readonly string[]): string {
  const members = given.names.filter((name) => !others.includes(name))
    .map((name) => `${JSON.stringify(name)}:${given.print(name)}`);
  return `{${members.join(",")}}`;
}

function rejectOthers(given: Arguments, known: readonly string[]): void {
  const name = given.names.find((each) => !known.includes(each));
  if (name === undefined) return;
  const meant = nearest(name, known);
  const expected = meant === undefined
    ? `expected ${known.join(", ")}`
    : `did you mean ${quote(meant)}?`;
  throw new ApiError(400, `${quote(name)} is not an argument of this tool, ${expected}`);
}
