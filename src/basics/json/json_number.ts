import { quote } from "../errors/issue.ts";
import { DOCUMENT_ZEROS, MAX_QUOTED_CHARACTERS } from "../errors/limits.ts";
import { type JsonReader, noteIssue, rejectSyntax } from "./json_reader.ts";

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const PARTS = /^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;
const EXPONENT = /[eE]/;
/** Every decimal of at most 15 significant digits survives a double. */
const ALWAYS_EXACT_CHARACTERS = 15;

/**
 * Reads the number at `reader.at`, and adds an issue if a double cannot represent it. Keeps its text
 * if the number would print differently: `1.50`, `1E5`, `-0`.
 * @throws {ApiError} 400 for a malformed number
 * @see V10, V11
 */
export function readNumber(reader: JsonReader): number {
  const short = readShortInteger(reader);
  if (short !== undefined) return short;
  NUMBER.lastIndex = reader.at;
  if (!NUMBER.test(reader.text)) throw rejectSyntax(reader, "a digit");
  const literal = reader.text.slice(reader.at, NUMBER.lastIndex);
  reader.at = NUMBER.lastIndex;
  const value = Number(literal);
  if (!isExact(literal, value)) {
    const shown = quote(literal.slice(0, 2 * MAX_QUOTED_CHARACTERS)).slice(1, -1);
    noteIssue(reader, `${shown} cannot be held exactly by a JSON number, send it as a string`);
  }
  if (String(value) !== literal) reader.literal = literal;
  if (EXPONENT.test(literal)) countZeros(reader, literal);
  return Number.isFinite(value) ? value : Math.sign(value) * Number.MAX_VALUE;
}

/** Adds one issue if the numbers of a document print far longer than they are written. */
function countZeros(reader: JsonReader, literal: string): void {
  const most = DOCUMENT_ZEROS.free + DOCUMENT_ZEROS.perCharacter * reader.text.length;
  const before = reader.zeros;
  reader.zeros += Math.min(Math.abs(Number(literal.split(EXPONENT)[1])), most + 1);
  if (before > most || reader.zeros <= most) return;
  const limit = `expected exponents that add at most ${most} zeros to all numbers of the body`;
  noteIssue(reader, `the numbers print too long, ${limit}`);
}

/** Reads an integer of up to 15 digits, faster than the pattern; reads nothing else. */
function readShortInteger(reader: JsonReader): number | undefined {
  const { text, at: start } = reader;
  let at = start;
  let value = 0;
  let code = text.charCodeAt(at);
  if (code === 0x30) return undefined;
  while (code >= 0x30 && code <= 0x39) {
    value = value * 10 + code - 0x30;
    code = text.charCodeAt(++at);
  }
  const length = at - start;
  if (length === 0 || length > ALWAYS_EXACT_CHARACTERS) return undefined;
  if (code === 0x2e || code === 0x45 || code === 0x65) return undefined;
  reader.at = at;
  return value;
}

/**
 * Reports whether a double represents a number exactly. An integer beyond 2^53 - 1 may have been
 * rounded by the client already, so it does not; any other number must print as a decimal of the same
 * value (`1.0`, `1E5` and `-0` are fine).
 * @see V9, V10
 */
export function isExact(literal: string, value: number): boolean {
  const magnitude = Math.abs(value);
  const short = literal.length <= ALWAYS_EXACT_CHARACTERS;
  if (short && magnitude > 1e-290 && magnitude < 1e290) return true;
  if (!EXPONENT.test(literal)) {
    if (magnitude > Number.MAX_SAFE_INTEGER) return false;
    if (short) return true;
  }
  const sent = splitDecimal(literal);
  const held = splitDecimal(String(value));
  return sent.digits === held.digits && sent.exponent === held.exponent;
}

/** Digits without leading and trailing zeros, and the power of ten of the last one. */
function splitDecimal(literal: string): { digits: string; exponent: number } {
  const [, whole = "", fraction = "", power = "0"] = PARTS.exec(literal) ?? [];
  const all = whole + fraction;
  let end = all.length;
  while (end > 0 && all[end - 1] === "0") end--;
  let start = 0;
  while (start < end && all[start] === "0") start++;
  if (start === end) return { digits: "", exponent: 0 };
  return {
    digits: all.slice(start, end),
    exponent: Number(power) - fraction.length + (all.length - end),
  };
}
