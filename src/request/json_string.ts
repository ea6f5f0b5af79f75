import { type JsonReader, noteIssue, refuseSyntax } from "./json_reader.ts";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const FIRST_PRINTABLE = 0x20;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const SURROGATE = /[\uD800-\uDFFF]/;

/**
 * Reads the string whose opening quote is at `reader.at`.
 * @throws {ApiError} 400 for a control character, an unknown escape or a missing quote
 */
export function readString(reader: JsonReader): string {
  const { text } = reader;
  const start = reader.at;
  let at = start + 1;
  let escaped = false;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) break;
    if (code >= FIRST_PRINTABLE && code !== BACKSLASH) {
      at++;
      continue;
    }
    reader.at = at;
    if (code !== BACKSLASH) throw refuseSyntax(reader, expectedInString(code));
    ESCAPE.lastIndex = at;
    if (!ESCAPE.test(text)) {
      throw refuseSyntax(reader, String.raw`an escape such as \n, \", \\ or \u00e9`);
    }
    at = ESCAPE.lastIndex;
    escaped = true;
  }
  reader.at = at + 1;
  // The escapes are known to be right, so the built-in parser may undo them: 20 times faster.
  return escaped ? JSON.parse(text.slice(start, at + 1)) : text.slice(start + 1, at);
}

/**
 * Notes U+0000 and lone surrogates in a string: Postgres refuses the one, and the other would be
 * stored as U+FFFD.
 * @see DECISIONS 3
 */
export function checkString(reader: JsonReader, value: string): void {
  const what = describeFault(value);
  if (what !== undefined) {
    noteIssue(reader, `the string holds ${what}, expected text that Postgres can hold`);
  }
}

/**
 * The same for a key, at the path of the key.
 * @see DECISIONS 3
 */
export function checkKey(reader: JsonReader, key: string): void {
  const what = describeFault(key);
  if (what !== undefined) {
    noteIssue(reader, `the key holds ${what}, expected text that Postgres can hold`);
  }
}

function describeFault(value: string): string | undefined {
  if (value.includes("\0")) return "the character U+0000";
  if (SURROGATE.test(value) && !value.isWellFormed()) return "half of a surrogate pair";
  return undefined;
}

function expectedInString(code: number): string {
  return Number.isNaN(code)
    ? 'a closing "'
    : String.raw`control characters in a string written as escapes, such as \n`;
}
