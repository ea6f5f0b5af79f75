import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import type { ReceivedResponse } from "../support/service.ts";

/** A record as a client parses it. */
export type ParsedRecord = Record<string, unknown>;

/** Asserts a 200 of the JSON kind and returns its body. */
export function assertOk(response: ReceivedResponse): Record<string, unknown> {
  assertEquals(response.status, 200, response.text);
  assertMatch(response.headers.get("content-type") ?? "", /^application\/json\b/);
  assert((response.headers.get("x-request-id") ?? "") !== "", "a response without X-Request-Id");
  assertEquals(response.body["success"], true);
  return response.body;
}

/** Asserts a 200 of Query Records and returns its records. */
export function recordsOf(response: ReceivedResponse): ParsedRecord[] {
  const { records } = assertOk(response);
  assert(Array.isArray(records), "records is no array");
  return records as ParsedRecord[];
}

/** Asserts a 200 of Query Records and returns one column of its records. */
export function valuesOf(response: ReceivedResponse, field: string): unknown[] {
  return recordsOf(response).map((record) => record[field]);
}

/** Asserts an error body, without `matched`, that says each of the texts; returns the message. */
export function assertRejected(
  response: ReceivedResponse,
  status: number,
  ...texts: readonly (string | RegExp)[]
): string {
  return assertError(response, status, ["error", "success"], texts);
}

/** Asserts a 400 whose message begins with the path and says each of the texts; returns the message. */
export function assertRejectedAt(
  response: ReceivedResponse,
  path: string,
  ...texts: readonly (string | RegExp)[]
): string {
  const error = assertRejected(response, 400, ...texts);
  assert(error.startsWith(`${path}: `), `expected the path ${path}, got: ${error}`);
  return error;
}

/** Asserts an error of Update Single that says how many rows matched; returns the message. */
export function assertMatched(
  response: ReceivedResponse,
  status: 404 | 409,
  matched: number,
): string {
  const error = assertError(response, status, ["error", "matched", "success"], []);
  assertEquals(response.body["matched"], matched);
  return error;
}

function assertError(
  response: ReceivedResponse,
  status: number,
  members: readonly string[],
  texts: readonly (string | RegExp)[],
): string {
  assertEquals(response.status, status, response.text);
  assertMatch(response.headers.get("content-type") ?? "", /^application\/json\b/);
  assert((response.headers.get("x-request-id") ?? "") !== "", "a response without X-Request-Id");
  assertEquals(Object.keys(response.body).sort(), members);
  assertEquals(response.body["success"], false);
  const error = response.body["error"];
  assert(typeof error === "string" && error !== "", "error is no text");
  assert(!error.endsWith("."), `a final period: ${error}`);
  assert(!/CANARY|SECRET|SQLSTATE/.test(error), `discloses what is not the client's: ${error}`);
  for (const text of texts) {
    if (typeof text === "string") assertStringIncludes(error, text);
    else assertMatch(error, text);
  }
  return error;
}
