import { ApiError } from "../errors.ts";
import type { Issue } from "../issue.ts";

/** Where the JSON parser stands: `at` is the offset of the next character, `path` that of the value. */
export interface JsonReader {
  readonly text: string;
  at: number;
  readonly path: (string | number)[];
  readonly issues: Issue[];
}

/** Findings kept: more than are told, since a key and its value may share a path. */
const MAX_ISSUES_KEPT = 10;

/** Notes a finding at the place being read; the text goes on being parsed. */
export function noteIssue(reader: JsonReader, message: string): void {
  if (reader.issues.length >= MAX_ISSUES_KEPT) return;
  reader.issues.push({ path: [...reader.path], message });
}

/**
 * Makes the 400 for text that is not JSON, with line and column of the offending character.
 * The text itself is not repeated.
 * @see DECISIONS 7
 */
export function refuseSyntax(reader: JsonReader, expected: string): ApiError {
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
