import { ApiError } from "../errors/api_error.ts";
import type { Issue } from "../errors/issue.ts";
import { type Excess, type JsonReader, rejectSyntax, skipSpace } from "./json_reader.ts";
import { leave, put, readEnd, readStart, STARTED } from "./json_value.ts";
import { keepSource, type SourceText } from "./source_text.ts";
import { isSlicing, runInSlices } from "./time_slices.ts";

/** Values that are read between two looks at the clock. */
const VALUES_OF_A_STEP = 500;
/** A shorter document is read without a pause. */
const SHORT_CHARACTERS = 4096;
/** The path to a new value in an update's body: `fields`, and the column's name. */
const DEPTH_OF_FIELDS = 2;

/** A JSON document, and issues of values that would not reach Postgres unchanged. */
export interface ParsedJson extends SourceText {
  /** Objects inherit nothing, so that `__proto__` and `constructor` are keys like any other. */
  readonly value: unknown;
  /** The first few numbers that a double cannot represent, U+0000 and lone surrogates, in order. */
  readonly issues: readonly Issue[];
}

/**
 * Parses one JSON document strictly. It is a parser of its own, because `JSON.parse` keeps the last
 * of two equal keys, rounds numbers silently and treats `__proto__` specially, and V8 may mistake a
 * key with an escape for a key of an earlier document (nodejs/node#63785).
 * @throws {ApiError} 400 for text that is not JSON, text after the document, a key that an object has
 * twice, or nesting deeper than {@link MAX_JSON_DEPTH}
 * @see E13, E16, V9
 */
export function parseJson(text: string): ParsedJson {
  const reader = openReader(text);
  for (;;) {
    const parsed = readValues(reader, Infinity);
    if (parsed !== undefined) return parsed;
  }
}

/** How a document that may be long is read. */
export interface ReadingOptions {
  /** What happens to more arrays and objects than a request can have; undefined: they are kept. */
  readonly excess?: Excess;
  /** Depth of the values of `json` columns, from 0 at the top; undefined: that of an update. */
  readonly valueDepth?: number;
  /** Milliseconds between two yields to the event loop. */
  readonly sliceMs?: number;
}

/**
 * Parses like {@link parseJson}, but a long document in slices, so that other requests are served
 * meanwhile.
 * @throws {ApiError} 400 as {@link parseJson}
 * @see docs/decisions/0007-bodies.md
 */
export function parseJsonInSlices(
  text: string,
  options: ReadingOptions = {},
): ParsedJson | Promise<ParsedJson> {
  const isShort = text.length < SHORT_CHARACTERS;
  const reader = openReader(text, options);
  const read = () => readValues(reader, VALUES_OF_A_STEP);
  const parsed = isShort || !isSlicing() ? read() : undefined;
  return parsed ?? runInSlices(read, options);
}

function openReader(
  text: string,
  { excess = "keep", valueDepth = DEPTH_OF_FIELDS }: ReadingOptions = {},
): JsonReader {
  const reader: JsonReader = {
    text,
    at: 0,
    path: [],
    open: [],
    valueDepth,
    starts: [],
    spans: new Map(),
    issues: [],
    literal: undefined,
    zeros: 0,
    literals: new Map(),
    excess,
    containers: 0,
    deeper: 0,
    drops: [],
  };
  if (skipSpace(reader) < text.length) return reader;
  throw new ApiError(400, "body: the body is empty, expected a JSON object");
}

/** Reads so many more values; returns the document once it is complete. */
function readValues(reader: JsonReader, values: number): ParsedJson | undefined {
  for (let read = 0; read < values; read++) {
    let value = readStart(reader);
    // The last value of a container completes the container.
    while (value !== STARTED) {
      const container = reader.open.at(-1);
      if (container === undefined) return endDocument(reader, value);
      put(reader, container, value);
      if (readEnd(reader, container)) value = leave(reader);
      else break;
    }
  }
  return undefined;
}

function endDocument(reader: JsonReader, value: unknown): ParsedJson {
  if (skipSpace(reader) !== reader.text.length) {
    throw rejectSyntax(reader, "nothing after the end of the JSON document");
  }
  return { value, issues: reader.issues, ...keepSource(reader, value) };
}
