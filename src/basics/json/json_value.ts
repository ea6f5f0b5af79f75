import type { JsonContainer } from "./json.ts";
import { ApiError } from "../errors/api_error.ts";
import { pathOf, printPath, quote } from "../errors/issue.ts";
import { MAX_CONTAINERS, MAX_JSON_DEPTH } from "../errors/limits.ts";
import { readNumber } from "./json_number.ts";
import { type JsonReader, rejectSyntax, skipSpace } from "./json_reader.ts";
import { checkKey, checkString, readString } from "./json_string.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Objects made from it have no `constructor`, and are faster than those made from null. */
const NO_PROTOTYPE: object = Object.freeze(Object.create(null));
/** What is kept of a container that is not. It is not a scalar, so nothing mistakes it for a value. */
const DROPPED_ARRAY: JsonContainer = Object.freeze<unknown[]>([]) as unknown[];
const DROPPED_OBJECT: JsonContainer = Object.freeze(Object.create(null));
/** Position before the first entry of an array. */
const BEFORE_FIRST = -1;
/** Result of reading the start of a container. */
export const STARTED: unique symbol = Symbol();

/** Reads a value, or only the start of a container that is not empty. */
export function readStart(reader: JsonReader): unknown {
  const code = reader.text.charCodeAt(reader.at);
  if (code === QUOTE) {
    const value = readString(reader);
    checkString(reader, value);
    return value;
  }
  if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
    const container = enter(reader, code === OPEN_ARRAY ? [] : Object.create(NO_PROTOTYPE));
    if (codeAfterSpace(reader) === endOf(container)) return leave(reader);
    readPlace(reader, container);
    return STARTED;
  }
  if (code === 0x2d || (code >= 0x30 && code <= 0x39)) return readNumber(reader);
  if (code === 0x74) return readWord(reader, ["true", true]);
  if (code === 0x66) return readWord(reader, ["false", false]);
  if (code === 0x6e) return readWord(reader, ["null", null]);
  throw rejectSyntax(reader, "a value");
}

function readWord<T>(reader: JsonReader, [word, value]: readonly [string, T]): T {
  if (!reader.text.startsWith(word, reader.at)) throw rejectSyntax(reader, "a value");
  reader.at += word.length;
  return value;
}

/** Moves to the next value of a container; in an object, reads its key. */
function readPlace(reader: JsonReader, container: JsonContainer): void {
  skipSpace(reader);
  if (Array.isArray(container)) {
    const last = reader.path.length - 1;
    reader.path[last] = (reader.path[last] as number) + 1;
    return;
  }
  if (reader.text.charCodeAt(reader.at) !== QUOTE) {
    throw rejectSyntax(reader, "a key in double quotes");
  }
  const key = readString(reader);
  reader.path[reader.path.length - 1] = key;
  checkKey(reader, key);
  // JSON has no undefined, and `in` would be slower.
  if (container[key] !== undefined) throw rejectRepeatedKey(reader, key);
  if (codeAfterSpace(reader) !== COLON) throw rejectSyntax(reader, '":"');
  reader.at++;
  skipSpace(reader);
}

/** Puts a value into its container, at the current path. */
export function put(reader: JsonReader, container: JsonContainer, value: unknown): void {
  if (reader.literal !== undefined) putLiteral(reader, container, reader.literal);
  const isDropped = reader.drops[reader.path.length - 1];
  // An object keeps its keys while it is open, so that a repeated one is found.
  if (!Array.isArray(container)) container[reader.path.at(-1)!] = isDropped ? null : value;
  else if (!isDropped) container.push(value);
}

/** Keeps the text of a number, unless it is in a part that is not kept. */
function putLiteral(reader: JsonReader, container: JsonContainer, literal: string): void {
  reader.literal = undefined;
  if (reader.drops[reader.path.length - 1]) return;
  let literals = reader.literals.get(container);
  if (literals === undefined) {
    literals = Object.create(NO_PROTOTYPE) as Record<string | number, string>;
    reader.literals.set(container, literals);
  }
  literals[reader.path.at(-1)!] = literal;
}

/** Reads what follows a value: true at the end of its container, else moves to the next value. */
export function readEnd(reader: JsonReader, container: JsonContainer): boolean {
  const code = codeAfterSpace(reader);
  if (code === endOf(container)) return true;
  if (code !== COMMA) {
    throw rejectSyntax(reader, Array.isArray(container) ? '"," or "]"' : '"," or "}"');
  }
  reader.at++;
  readPlace(reader, container);
  return false;
}

function endOf(container: JsonContainer): number {
  return Array.isArray(container) ? CLOSE_ARRAY : CLOSE_OBJECT;
}

function enter<T extends JsonContainer>(reader: JsonReader, container: T): T {
  if (reader.path.length === MAX_JSON_DEPTH) {
    throw new ApiError(
      400,
      `body: nested too deeply, expected at most ${MAX_JSON_DEPTH} levels of arrays and objects`,
    );
  }
  const depth = reader.path.length;
  if (depth <= reader.valueDepth) reader.starts[depth] = reader.at;
  reader.drops[depth] = exceeds(reader, depth);
  reader.open.push(container);
  reader.path.push(Array.isArray(container) ? BEFORE_FIRST : "");
  reader.at++;
  return container;
}

/** Counts a container, and reports whether it is one that is not kept. */
function exceeds(reader: JsonReader, depth: number): boolean {
  const { excess } = reader;
  const isDeeper = depth > reader.valueDepth;
  const count = isDeeper ? ++reader.deeper : ++reader.containers;
  if (count <= MAX_CONTAINERS || excess === "keep") return false;
  if (isDeeper && excess === "drop") return true;
  const limit = `expected at most ${MAX_CONTAINERS}`;
  throw new ApiError(400, `body: there are too many arrays and objects, ${limit}`);
}

/** Leaves the innermost container, and returns what is kept of it. */
export function leave(reader: JsonReader): JsonContainer {
  reader.path.pop();
  reader.at++;
  const container = reader.open.pop()!;
  const depth = reader.path.length;
  if (reader.drops[depth]) return Array.isArray(container) ? DROPPED_ARRAY : DROPPED_OBJECT;
  if (depth <= reader.valueDepth) reader.spans.set(container, [reader.starts[depth]!, reader.at]);
  return container;
}

function codeAfterSpace(reader: JsonReader): number {
  return reader.text.charCodeAt(skipSpace(reader));
}

function rejectRepeatedKey(reader: JsonReader, key: string): ApiError {
  return new ApiError(
    400,
    `body: the key ${quote(key)} appears twice at ${
      printPath(pathOf(...reader.path))
    }, expected it once`,
  );
}
