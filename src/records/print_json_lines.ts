import type { ExportedAs } from "./plan/export_plan.ts";
import { type ByteWriter, reserve, writeBytes, writeRange } from "./byte_writer.ts";
import { beginRow, nextValue, openRowValue, type RowValue } from "./row_value.ts";

/** A column of an export: its name, and how its values arrive. */
export interface ExportedColumn {
  readonly name: string;
  readonly as: ExportedAs;
}

/** Prints rows, and the header before them. */
export interface RowPrinter {
  readonly begin: (writer: ByteWriter) => void;
  /**
   * Adds a row as Postgres sent it. Its first value is the size check, the others are in column
   * order.
   */
  readonly add: (writer: ByteWriter, row: Uint8Array, start: number) => void;
  /** Adds the number of rows as the last line, which no record can be. @see EX26 */
  readonly end: (writer: ByteWriter, rows: number) => void;
}

const UTF_8 = new TextEncoder();
const NULL = UTF_8.encode("null");
const TRUE = UTF_8.encode("true");
const FALSE = UTF_8.encode("false");
const END = UTF_8.encode("}\n");

/** Code of the character that Postgres prints a true boolean as. */
export const CODE_OF_TRUE = 0x74;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SPACE = 0x20;
const HEXADECIMAL = UTF_8.encode("0123456789abcdef");
/** Letters of the short escapes, such as `\n`, by the code of the character. */
const LETTERS: ReadonlyMap<number, number> = new Map(
  [[8, "b"], [9, "t"], [10, "n"], [12, "f"], [13, "r"], [QUOTE, '"'], [BACKSLASH, "\\"]]
    .map(([code, letter]) => [code as number, (letter as string).charCodeAt(0)]),
);
/** Bytes of the longest escape. */
const ESCAPE_BYTES = 6;

/**
 * Makes a printer of each row as a line of JSON, byte for byte as Postgres's `row_to_json` would
 * print it.
 * @see EX10
 */
export function printJsonLines(columns: readonly ExportedColumn[]): RowPrinter {
  const keys = columns.map(({ name }, place) =>
    UTF_8.encode(`${place === 0 ? "{" : ","}${JSON.stringify(name)}:`)
  );
  const keyBytes = keys.reduce((sum, key) => sum + key.length, END.length);

  const value = openRowValue();

  function add(writer: ByteWriter, row: Uint8Array, start: number): void {
    beginRow(value, row, start);
    nextValue(value);
    reserve(writer, keyBytes + 7 * columns.length);
    for (let place = 0; place < columns.length; place++) {
      writeBytes(writer, keys[place]!);
      if (nextValue(value)) addValue(writer, value, columns[place]!.as);
      else writeBytes(writer, NULL);
      // Room for the keys and punctuation of the rest of the row; each value reserves its own.
      reserve(writer, keyBytes + 7 * columns.length);
    }
    writeBytes(writer, END);
  }

  return { begin: () => {}, add, end: (writer, rows) => addLine(writer, `${rows}\n`) };
}

/** Adds a line of ASCII. */
export function addLine(writer: ByteWriter, line: string): void {
  reserve(writer, line.length);
  writeBytes(writer, UTF_8.encode(line));
}

function addValue(writer: ByteWriter, value: RowValue, as: ExportedAs): void {
  switch (as) {
    case "boolean":
      return writeBytes(writer, value.bytes[value.start] === CODE_OF_TRUE ? TRUE : FALSE);
    case "number":
      if (!isNumber(value)) return addText(writer, value);
      reserve(writer, value.end - value.start);
      return writeRange(writer, value);
    case "text":
      return addText(writer, value);
    case "json":
      return addJson(writer, value);
  }
}

/** Adds JSON without its line breaks: a value of type `json` may have some between its parts. */
function addJson(writer: ByteWriter, value: RowValue): void {
  const start = writer.at;
  reserve(writer, value.end - value.start);
  writeRange(writer, value);
  const { bytes, at } = writer;
  for (let place = start; place < at; place++) if (bytes[place]! < SPACE) bytes[place] = SPACE;
}

/** `NaN`, `Infinity` and `-Infinity` are no numbers of JSON. */
function isNumber({ bytes, start }: RowValue): boolean {
  const first = bytes[start] === 0x2d ? bytes[start + 1]! : bytes[start]!;
  return first >= 0x30 && first <= 0x39;
}

function addText(writer: ByteWriter, { bytes: source, start, end }: RowValue): void {
  reserve(writer, end - start + 2);
  let { bytes, at } = writer;
  bytes[at++] = QUOTE;
  for (let place = start; place < end; place++) {
    const code = source[place]!;
    if (code >= SPACE && code !== QUOTE && code !== BACKSLASH) bytes[at++] = code;
    else {
      writer.at = at;
      reserve(writer, ESCAPE_BYTES + end - place + 1);
      bytes = writer.bytes;
      at = addEscape(bytes, at, code);
    }
  }
  bytes[at++] = QUOTE;
  writer.at = at;
}

function addEscape(bytes: Uint8Array, start: number, code: number): number {
  let at = start;
  bytes[at++] = BACKSLASH;
  const letter = LETTERS.get(code);
  if (letter !== undefined) {
    bytes[at++] = letter;
    return at;
  }
  bytes.set(HEX_PREFIX, at);
  at += HEX_PREFIX.length;
  bytes[at++] = HEXADECIMAL[code >> 4]!;
  bytes[at++] = HEXADECIMAL[code & 15]!;
  return at;
}

const HEX_PREFIX = UTF_8.encode("u00");
