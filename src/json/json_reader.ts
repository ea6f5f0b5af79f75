import { ApiError } from "../errors/api_error.ts";
import { type Issue, pathOf } from "../errors/issue.ts";
import type { Trimming } from "./trimming.ts";

/** An array or an object whose end is not yet read. */
export type JsonContainer = unknown[] | Record<string, unknown>;

/**
 * Where the JSON parser stands, so that it can go on later: `at` is the offset of the next character,
 * `path` that of the value, `open` the containers around it.
 */
export interface JsonReader {
  readonly text: string;
  at: number;
  readonly path: (string | number)[];
  readonly open: JsonContainer[];
  /** Where the open containers of the first {@link NOTED_DEPTH} levels began. */
  readonly starts: number[];
  /** From where to where the text of each of them went. */
  readonly spans: Map<unknown, readonly [from: number, to: number]>;
  readonly issues: Issue[];
  /** Text of the number just read, where the number alone does not print as it. */
  literal: string | undefined;
  /** All such texts in what is kept: those in each container, by key or position. */
  readonly literals: Map<unknown, Record<string | number, string>>;
  /** Digits that exponents have given the numbers so far. */
  zeros: number;
  /** Undefined: all of the document is kept. */
  readonly trimming: Trimming | undefined;
}

const SPACE = 0x20;
/** Deep enough for what a member of the body holds, as a new value of a `json` column. */
export const NOTED_DEPTH = 2;
/** Findings kept: more than are told, since a key and its value may share a path. */
const MAX_ISSUES_KEPT = 10;

/** Notes a finding at the place being read; the text goes on being parsed. */
export function noteIssue(reader: JsonReader, message: string): void {
  if (reader.issues.length >= MAX_ISSUES_KEPT) return;
  reader.issues.push({ path: pathOf(...reader.path), message });
}

/**
 * Makes the 400 for text that is not JSON, with line and column of the offending character.
 * The text itself is not repeated.
 * @see E16, HT13
 */
export function rejectSyntax(reader: JsonReader, expected: string): ApiError {
  let line = 1;
  let lineStart = 0;
  for (let at = reader.text.indexOf("\n"); at >= 0 && at < reader.at;) {
    line++;
    lineStart = at + 1;
    at = reader.text.indexOf("\n", lineStart);
  }
  const place = `line ${line}, column ${reader.at - lineStart + 1}`;
  const wrong = reader.at >= reader.text.length
    ? `the JSON ends too early, at ${place}`
    : `not valid JSON at ${place}`;
  return new ApiError(400, `body: ${wrong}, expected ${expected}`);
}

/** Goes to the next character that is no white space. */
export function skipSpace(reader: JsonReader): number {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (code > SPACE || (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
      return reader.at;
    }
    reader.at++;
  }
}
