import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { Answer } from "../support/service.ts";

/** A record as a client parses it. */
export type ParsedRecord = Record<string, unknown>;

/** Asserts a 200 of the JSON kind and gives its body. */
export function assertOk(answer: Answer): Record<string, unknown> {
  assertEquals(answer.status, 200, answer.text);
  assertMatch(answer.headers.get("content-type") ?? "", /^application\/json\b/);
  assert((answer.headers.get("x-request-id") ?? "") !== "", "an answer without X-Request-Id");
  assertEquals(answer.body["success"], true);
  return answer.body;
}

/** Asserts a 200 of Query Records and gives its records. */
export function recordsOf(answer: Answer): ParsedRecord[] {
  const { records } = assertOk(answer);
  assert(Array.isArray(records), "records is no array");
  return records as ParsedRecord[];
}

/** Asserts a 200 of Query Records and gives one column of its records. */
export function valuesOf(answer: Answer, field: string): unknown[] {
  return recordsOf(answer).map((record) => record[field]);
}

/** Asserts an error body, without `matched`, that says each of the texts; gives the message. */
export function assertRejected(
  answer: Answer,
  status: number,
  ...texts: readonly (string | RegExp)[]
): string {
  return assertError(answer, status, ["error", "success"], texts);
}

/** Asserts a 400 whose message begins with the path and says each of the texts; gives the message. */
export function assertRejectedAt(
  answer: Answer,
  path: string,
  ...texts: readonly (string | RegExp)[]
): string {
  const error = assertRejected(answer, 400, ...texts);
  assert(error.startsWith(`${path}: `), `expected the path ${path}, got: ${error}`);
  return error;
}

/** Asserts an error of Update Single that says how many rows matched; gives the message. */
export function assertMatched(answer: Answer, status: 404 | 409, matched: number): string {
  const error = assertError(answer, status, ["error", "matched", "success"], []);
  assertEquals(answer.body["matched"], matched);
  return error;
}

function assertError(
  answer: Answer,
  status: number,
  members: readonly string[],
  texts: readonly (string | RegExp)[],
): string {
  assertEquals(answer.status, status, answer.text);
  assertMatch(answer.headers.get("content-type") ?? "", /^application\/json\b/);
  assert((answer.headers.get("x-request-id") ?? "") !== "", "an answer without X-Request-Id");
  assertEquals(Object.keys(answer.body).sort(), members);
  assertEquals(answer.body["success"], false);
  const error = answer.body["error"];
  assert(typeof error === "string" && error !== "", "error is no text");
  assert(!error.endsWith("."), `a final period: ${error}`);
  assert(!/CANARY|SECRET|SQLSTATE/.test(error), `discloses what is not the client's: ${error}`);
  for (const text of texts) {
    if (typeof text === "string") assertStringIncludes(error, text);
    else assertMatch(error, text);
  }
  return error;
}
