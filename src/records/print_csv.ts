import type { ExportedAs } from "./plan/export_plan.ts";
import { type ByteRange, type ByteWriter, reserve, writeBytes, writeRange } from "./byte_writer.ts";
import { addLine, CODE_OF_TRUE, type ExportedColumn, type RowPrinter } from "./print_json_lines.ts";
import { beginRow, bytesOf, nextValue, openRowValue, type RowValue } from "./row_value.ts";

const UTF_8 = new TextEncoder();
const TEXT = new TextDecoder();
const TRUE = UTF_8.encode("true");
const FALSE = UTF_8.encode("false");
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
/** A value that begins or ends with a space is quoted, because some parsers trim. */
const SPACE = 0x20;

/**
 * Makes a printer of rows as RFC 4180, after a line with the names of the columns. NULL is an empty
 * field, an empty text is `""`. Values are printed as in the JSON of a page, without the quotes of
 * JSON.
 * @see EX11, EX12, EX13
 */
export function printCsv(columns: readonly ExportedColumn[]): RowPrinter {
  function begin(writer: ByteWriter): void {
    columns.forEach(({ name }, place) => {
      if (place > 0) addByte(writer, COMMA);
      addField(writer, wholeOf(UTF_8.encode(name)));
    });
    endLine(writer);
  }

  const value = openRowValue();

  function add(writer: ByteWriter, row: Uint8Array, start: number): void {
    beginRow(value, row, start);
    nextValue(value);
    for (let place = 0; place < columns.length; place++) {
      if (place > 0) addByte(writer, COMMA);
      if (nextValue(value)) addValue(writer, value, columns[place]!.as);
    }
    endLine(writer);
  }

  // A record would have the space in quotes.
  return { begin, add, end: (writer, rows) => addLine(writer, ` ${rows}\r\n`) };
}

function addByte(writer: ByteWriter, code: number): void {
  reserve(writer, 1);
  writer.bytes[writer.at++] = code;
}

function endLine(writer: ByteWriter): void {
  addByte(writer, CARRIAGE_RETURN);
  addByte(writer, LINE_FEED);
}

function addValue(writer: ByteWriter, value: RowValue, as: ExportedAs): void {
  switch (as) {
    case "boolean":
      reserve(writer, FALSE.length);
      return writeBytes(writer, value.bytes[value.start] === CODE_OF_TRUE ? TRUE : FALSE);
    case "number":
      reserve(writer, value.end - value.start);
      return writeRange(writer, value);
    case "text":
      return addField(writer, value);
    case "json":
      return value.bytes[value.start] === QUOTE
        ? addJsonText(writer, bytesOf(value))
        : addField(writer, value);
  }
}

/** Adds a string of JSON as the text that it stands for. */
function addJsonText(writer: ByteWriter, json: Uint8Array): void {
  const text = json.includes(BACKSLASH)
    ? UTF_8.encode(JSON.parse(TEXT.decode(json)))
    : json.subarray(1, -1);
  addField(writer, wholeOf(text));
}

function wholeOf(bytes: Uint8Array): ByteRange {
  return { bytes, start: 0, end: bytes.length };
}

/** Adds a text, in quotes if it could be misread without them. */
function addField(writer: ByteWriter, value: ByteRange): void {
  const { bytes: source, start, end } = value;
  reserve(writer, end - start + 2);
  if (!needsQuotes(value)) return writeRange(writer, value);
  let { bytes, at } = writer;
  bytes[at++] = QUOTE;
  for (let place = start; place < end; place++) {
    const code = source[place]!;
    if (code === QUOTE) {
      writer.at = at;
      reserve(writer, end - place + 2);
      bytes = writer.bytes;
      bytes[at++] = QUOTE;
    }
    bytes[at++] = code;
  }
  bytes[at++] = QUOTE;
  writer.at = at;
}

function needsQuotes({ bytes, start, end }: ByteRange): boolean {
  if (start === end || bytes[start] === SPACE || bytes[end - 1] === SPACE) return true;
  for (let place = start; place < end; place++) {
    const code = bytes[place]!;
    if (code === COMMA || code === QUOTE || code === CARRIAGE_RETURN || code === LINE_FEED) {
      return true;
    }
  }
  return false;
}
