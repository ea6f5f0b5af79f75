import type { ExportedAs } from "../plan/export_plan.ts";
import { type ByteWriter, reserve, writeBytes } from "./byte_writer.ts";
import {
  CODE_OF_TRUE,
  type ExportedColumn,
  type RowPrinter,
  type RowValues,
} from "./print_json_lines.ts";

const UTF_8 = new TextEncoder();
const TEXT = new TextDecoder();
const TRUE = UTF_8.encode("true");
const FALSE = UTF_8.encode("false");
const COMMA = 0x2c;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const CARRIAGE_RETURN = 0x0d;
const LINE_FEED = 0x0a;
/** Where a parser that trims would change a value. */
const SPACE = 0x20;

/**
 * Makes what prints rows by RFC 4180, behind a line with the names of the columns. NULL is an empty field,
 * an empty text is `""`. Values are printed as in the JSON of a page, without the quotes of JSON.
 * @see EX11, EX12, EX13
 */
export function printCsv(columns: readonly ExportedColumn[]): RowPrinter {
  function begin(writer: ByteWriter): void {
    columns.forEach(({ name }, place) => {
      if (place > 0) addByte(writer, COMMA);
      addField(writer, UTF_8.encode(name));
    });
    endLine(writer);
  }

  function add(writer: ByteWriter, values: RowValues): void {
    for (let place = 0; place < columns.length; place++) {
      if (place > 0) addByte(writer, COMMA);
      const value = values[place + 1];
      if (value != null) addValue(writer, value, columns[place]!.as);
    }
    endLine(writer);
  }

  return { begin, add };
}

function addByte(writer: ByteWriter, code: number): void {
  reserve(writer, 1);
  writer.bytes[writer.at++] = code;
}

function endLine(writer: ByteWriter): void {
  addByte(writer, CARRIAGE_RETURN);
  addByte(writer, LINE_FEED);
}

function addValue(writer: ByteWriter, value: Uint8Array, as: ExportedAs): void {
  switch (as) {
    case "boolean":
      reserve(writer, FALSE.length);
      return writeBytes(writer, value[0] === CODE_OF_TRUE ? TRUE : FALSE);
    case "number":
      reserve(writer, value.length);
      return writeBytes(writer, value);
    case "text":
      return addField(writer, value);
    case "json":
      return value[0] === QUOTE ? addJsonText(writer, value) : addField(writer, value);
  }
}

/** Adds a string of JSON as the text that it stands for. */
function addJsonText(writer: ByteWriter, json: Uint8Array): void {
  if (json.includes(BACKSLASH)) addField(writer, UTF_8.encode(JSON.parse(TEXT.decode(json))));
  else addField(writer, json.subarray(1, -1));
}

/** Adds a text, in quotes where it would be read as something else without them. */
function addField(writer: ByteWriter, value: Uint8Array): void {
  const { length } = value;
  reserve(writer, length + 2);
  if (!needsQuotes(value)) {
    writeBytes(writer, value);
    return;
  }
  let { bytes, at } = writer;
  bytes[at++] = QUOTE;
  for (let place = 0; place < length; place++) {
    const code = value[place]!;
    if (code === QUOTE) {
      writer.at = at;
      reserve(writer, length - place + 2);
      bytes = writer.bytes;
      bytes[at++] = QUOTE;
    }
    bytes[at++] = code;
  }
  bytes[at++] = QUOTE;
  writer.at = at;
}

function needsQuotes(value: Uint8Array): boolean {
  const { length } = value;
  if (length === 0 || value[0] === SPACE || value[length - 1] === SPACE) return true;
  for (let place = 0; place < length; place++) {
    const code = value[place]!;
    if (code === COMMA || code === QUOTE || code === CARRIAGE_RETURN || code === LINE_FEED) {
      return true;
    }
  }
  return false;
}
