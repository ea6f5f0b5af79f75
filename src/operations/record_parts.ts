import { MAX_NEW_RECORDS } from "../basics/errors/limits.ts";
import type { CreateOptions } from "../records/plan/create_plan.ts";
import type { RecordResult } from "../records/write_records.ts";
import type { PlanContext } from "./operation.ts";
import { ANY_OBJECT, COUNT, type JsonSchema, objectOf, TEXT } from "./schemas/json_schema.ts";
import type { Arguments, ToolRequest } from "./tools/tool_definition.ts";
import { printBody, readIdempotencyArgument, readTableArgument } from "./tools/tool_arguments.ts";
import { updateOptionsOf } from "./update_parts.ts";

/** The text of a `json` value is at `records`, its number and its name. */
export const DEPTH_OF_RECORDS = 3;

/** The members of the result of a record. */
export const RECORD_RESULT: Readonly<Record<string, JsonSchema>> = {
  key: {
    anyOf: [{ ...ANY_OBJECT, description: "The columns of the primary key." }, { type: "null" }],
  },
  record: {
    ...ANY_OBJECT,
    description: "The row as it is stored, with `Prefer: return=representation`.",
  },
};

/** The member of a response that counts the records refused by themselves. */
export const FAILED_COUNT: JsonSchema = {
  ...COUNT,
  description: "Records that were refused, with `Prefer: on-error=continue`.",
};

/** What a response says of a record that was refused by itself. @see OE3 */
export const FAILED_RESULT: JsonSchema = objectOf({
  status: { type: "integer", minimum: 400, maximum: 499 },
  error: TEXT,
  matched: COUNT,
}, ["matched"]);

/** Describes the results of records, in the order of the request. */
export function describeResults(result: JsonSchema): JsonSchema {
  return {
    type: "array",
    items: { anyOf: [result, FAILED_RESULT] },
    minItems: 1,
    maxItems: MAX_NEW_RECORDS,
    description: "One result for each record, in order.",
  };
}

/** The argument of tools that write records. */
export const RECORDS_ARGUMENT: JsonSchema = {
  type: "array",
  items: { type: "object", additionalProperties: true },
  minItems: 1,
  maxItems: MAX_NEW_RECORDS,
  description: "Columns and their values; describe_table says which are required.",
};

/** Makes the request of a tool that writes records. */
export function makeRecordsRequest(given: Arguments): ToolRequest {
  const key = readIdempotencyArgument(given);
  return {
    table: readTableArgument(given),
    ...key,
    body: printBody(given, ["table", "idempotency_key"]),
  };
}

/** Collects the options of a plan that writes records. */
export function recordOptionsOf(operation: string, context: PlanContext): CreateOptions {
  const { wideNumbersAsText, preferences: { representation = false } } = context;
  return { ...updateOptionsOf(operation, context), representation, wideNumbersAsText };
}

/** How the results of a request are printed. */
interface PrintedResults {
  readonly table: string;
  /** The members before `results` with the numbers of records. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many were refused by themselves; undefined where one undoes all. */
  readonly failed: number | undefined;
  readonly results: readonly string[];
}

/** Prints the body of a response about records. */
export function printResults({ table, counts, failed, results }: PrintedResults): string {
  const all = { ...counts, ...(failed !== undefined && { failed }) };
  const numbers = Object.entries(all).map(([name, count]) => `"${name}":${count},`).join("");
  return `{"success":true,"table":${JSON.stringify(table)},${numbers}"results":[${results}]}`;
}

/** Prints the result of a record. */
export function printRecordResult(
  result: RecordResult,
  { representation, outcome }: { readonly representation: boolean; readonly outcome: boolean },
): string {
  if (!("outcome" in result)) return JSON.stringify(result);
  const members = [`"key":${result.key}`];
  if (outcome) members.push(`"outcome":"${result.outcome}"`);
  if (representation) members.push(`"record":${result.record}`);
  return `{${members}}`;
}

/** Counts the results of an outcome; `failed`: of records that were refused. */
export function countResults(
  results: readonly RecordResult[],
  outcome: "created" | "updated" | "unchanged" | "failed",
): number {
  return results.filter((each) => ("outcome" in each ? each.outcome : "failed") === outcome).length;
}
