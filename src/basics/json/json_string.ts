import type { ApiError } from "../errors/api_error.ts";
import { type JsonReader, noteIssue, rejectSyntax } from "./json_reader.ts";

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
  const { text, at: start } = reader;
  let at = start + 1;
  let escaped = false;
  for (let code = text.charCodeAt(at); code !== QUOTE; code = text.charCodeAt(++at)) {
    if (code === BACKSLASH) {
      escaped = true;
      at++;
    } else if (!(code >= FIRST_PRINTABLE)) throw rejectString(reader);
  }
  reader.at = at + 1;
  return escaped ? unescape(reader, start) : text.slice(start + 1, at);
}

/**
 * Parses escapes with the built-in parser, which is far faster; if it fails, the place of the error is
 * searched.
 */
function unescape(reader: JsonReader, start: number): string {
  try {
    return JSON.parse(reader.text.slice(start, reader.at));
  } catch {
    reader.at = start;
    throw rejectString(reader);
  }
}

/** Finds what is wrong with the string at `reader.at`. */
function rejectString(reader: JsonReader): ApiError {
  const { text } = reader;
  for (reader.at++;;) {
    const code = text.charCodeAt(reader.at);
    if (code === BACKSLASH) {
      ESCAPE.lastIndex = reader.at;
      if (!ESCAPE.test(text)) {
        return rejectSyntax(reader, String.raw`an escape such as \n, \", \\ or \u00e9`);
      }
      reader.at = ESCAPE.lastIndex;
    } else if (code >= FIRST_PRINTABLE) reader.at++;
    else return rejectSyntax(reader, expectedInString(code));
  }
}

/**
 * Adds issues for U+0000 and lone surrogates in a string: Postgres rejects the former, and would
 * store the latter as U+FFFD.
 * @see V7, V8
 */
export function checkString(reader: JsonReader, value: string): void {
  const what = describeFault(value);
  if (what !== undefined) {
    noteIssue(reader, `the string holds ${what}, expected text that Postgres can hold`);
  }
}

/** The same for a key, at the path of the key. @see V7, V8 */
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
