import type { JsonContainer } from "./json.ts";
import { ApiError } from "../errors/api_error.ts";
import { type Issue, pathOf } from "../errors/issue.ts";

/**
 * What happens to arrays and objects beyond {@link MAX_CONTAINERS}, since `{},`, three bytes of text,
 * takes 64 bytes of memory: the document is rejected, or they are kept, or those inside of a new value
 * are read and not kept, because only the text of that value is used.
 */
export type Excess = "reject" | "keep" | "drop";

/**
 * The state of the parser, which can pause after any value: `at` is the offset of the next character,
 * `path` leads to the value that is being read, `open` are the containers around it.
 */
export interface JsonReader {
  readonly text: string;
  at: number;
  readonly path: (string | number)[];
  readonly open: JsonContainer[];
  /** Depth of the deepest container whose text may be needed: the new value of a `json` column. */
  readonly valueDepth: number;
  /** Where the open containers down to that depth begin. */
  readonly starts: number[];
  /** Where the text of each of them begins and ends. */
  readonly spans: Map<unknown, readonly [from: number, to: number]>;
  readonly issues: Issue[];
  /** Text of the last number, if the number would print differently. */
  literal: string | undefined;
  /** All such texts in the parts that are kept: those in each container, by key or position. */
  readonly literals: Map<unknown, Record<string | number, string>>;
  /** Digits that exponents have added to the numbers so far. */
  zeros: number;
  readonly excess: Excess;
  /** Arrays and objects so far: those down to the depth of values, and those deeper. */
  containers: number;
  deeper: number;
  /** By depth: whether the open container is one whose content is not kept. */
  readonly drops: boolean[];
}

const SPACE = 0x20;
/** More issues than are reported, since a key and its value may share a path. */
const MAX_ISSUES_KEPT = 10;

/** Adds an issue at the current path. Parsing continues. */
export function noteIssue(reader: JsonReader, message: string): void {
  if (reader.issues.length >= MAX_ISSUES_KEPT) return;
  reader.issues.push({ path: pathOf(...reader.path), message });
}

/**
 * Makes the 400 for text that is not JSON, with line and column of the offending character, without
 * the text itself.
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

/** Moves to the next character that is not white space. */
export function skipSpace(reader: JsonReader): number {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (code > SPACE || (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
      return reader.at;
    }
    reader.at++;
  }
}
