import { ApiError } from "../errors.ts";
import { type Issue, printPath, quote } from "../issue.ts";
import { MAX_JSON_DEPTH } from "../limits.ts";
import { readNumber } from "./json_number.ts";
import { type JsonReader, refuseSyntax } from "./json_reader.ts";
import { checkKey, checkString, readString } from "./json_string.ts";

const SPACE = 0x20;
const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** A JSON document, and what in it would not survive the way to Postgres unchanged. */
export interface ParsedJson {
  /** Objects have no prototype, so that `__proto__` and `constructor` are keys like any other. */
  readonly value: unknown;
  /** Numbers that a double does not hold, U+0000, lone surrogates: the first few, in order. */
  readonly issues: readonly Issue[];
}

/**
 * Parses one JSON document strictly, in one pass. By hand, because `JSON.parse` keeps the last of
 * two equal keys, rounds numbers silently and makes `__proto__` special.
 * @throws {ApiError} 400 for text that is not JSON, text behind it, a key twice in one object, or
 * nesting over {@link MAX_JSON_DEPTH}
 * @see DECISIONS 3
 * @see DECISIONS 7
 */
export function parseJson(text: string): ParsedJson {
  const reader: JsonReader = { text, at: 0, path: [], issues: [] };
  skipSpace(reader);
  if (reader.at === text.length) {
    throw new ApiError(400, "body: the body is empty, expected a JSON object");
  }
  const value = readValue(reader);
  if (skipSpace(reader) === reader.text.length) return { value, issues: reader.issues };
  throw refuseSyntax(reader, "nothing after the end of the JSON document");
}

function readValue(reader: JsonReader): unknown {
  const code = reader.text.charCodeAt(reader.at);
  if (code === QUOTE) {
    const value = readString(reader);
    checkString(reader, value);
    return value;
  }
  if (code === OPEN_OBJECT) return readObject(reader);
  if (code === OPEN_ARRAY) return readArray(reader);
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return readNumber(reader);
  if (code === 0x74) return readWord(reader, ["true", true]);
  if (code === 0x66) return readWord(reader, ["false", false]);
  if (code === 0x6e) return readWord(reader, ["null", null]);
  throw refuseSyntax(reader, "a value");
}

function readWord<T>(reader: JsonReader, [word, value]: readonly [string, T]): T {
  if (!reader.text.startsWith(word, reader.at)) throw refuseSyntax(reader, "a value");
  reader.at += word.length;
  return value;
}

function readArray(reader: JsonReader): unknown[] {
  enter(reader);
  const items: unknown[] = [];
  if (codeAfterSpace(reader) === CLOSE_ARRAY) return leave(reader, items);
  for (;;) {
    reader.path[reader.path.length - 1] = items.length;
    items.push(readValue(reader));
    const code = codeAfterSpace(reader);
    if (code === CLOSE_ARRAY) return leave(reader, items);
    if (code !== COMMA) throw refuseSyntax(reader, '"," or "]"');
    reader.at++;
    skipSpace(reader);
  }
}

function readObject(reader: JsonReader): Record<string, unknown> {
  enter(reader);
  const members: Record<string, unknown> = Object.create(null);
  if (codeAfterSpace(reader) === CLOSE_OBJECT) return leave(reader, members);
  for (;;) {
    if (codeAfterSpace(reader) !== QUOTE) throw refuseSyntax(reader, "a key in double quotes");
    const key = readString(reader);
    reader.path[reader.path.length - 1] = key;
    checkKey(reader, key);
    if (key in members) throw refuseTwice(reader, key);
    if (codeAfterSpace(reader) !== COLON) throw refuseSyntax(reader, '":"');
    reader.at++;
    skipSpace(reader);
    members[key] = readValue(reader);
    const code = codeAfterSpace(reader);
    if (code === CLOSE_OBJECT) return leave(reader, members);
    if (code !== COMMA) throw refuseSyntax(reader, '"," or "}"');
    reader.at++;
  }
}

function enter(reader: JsonReader): void {
  if (reader.path.length === MAX_JSON_DEPTH) {
    throw new ApiError(
      400,
      `body: nested too deeply, expected at most ${MAX_JSON_DEPTH} levels of arrays and objects`,
    );
  }
  reader.path.push("");
  reader.at++;
}

function leave<T>(reader: JsonReader, container: T): T {
  reader.path.pop();
  reader.at++;
  return container;
}

function codeAfterSpace(reader: JsonReader): number {
  return reader.text.charCodeAt(skipSpace(reader));
}

function skipSpace(reader: JsonReader): number {
  for (;;) {
    const code = reader.text.charCodeAt(reader.at);
    if (code > SPACE || (code !== SPACE && code !== 0x0a && code !== 0x0d && code !== 0x09)) {
      return reader.at;
    }
    reader.at++;
  }
}

function refuseTwice(reader: JsonReader, key: string): ApiError {
  return new ApiError(
    400,
    `body: the key ${quote(key)} stands twice at ${printPath(reader.path)}, expected it once`,
  );
}
