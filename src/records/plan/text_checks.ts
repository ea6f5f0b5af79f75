import { readElements } from "../../basics/text/array_text.ts";
import type { Checked } from "./predicate.ts";
import { checkInterval } from "./interval_text.ts";
import { checkTime, type TimeType } from "./time_text.ts";
import { checkXml } from "./xml_text.ts";

/** Checks that Postgres would use every part of a text. */
type TextCheck = (text: string) => Checked;

const TIME_TYPES: readonly TimeType[] = ["date", "time", "timetz", "timestamp", "timestamptz"];

/** Ranges and multiranges by what their bounds are. */
const RANGES: readonly (readonly [TimeType, ...string[]])[] = [
  ["date", "daterange", "datemultirange"],
  ["timestamp", "tsrange", "tsmultirange"],
  ["timestamptz", "tstzrange", "tstzmultirange"],
];

const AMOUNT =
  /^[ \t-\r]*(?:(?:[-+]?\$?|\$[-+]) ?(?<bare>[\d.,]+)|\(\$?(?<owed>[\d.,]+)\))[ \t-\r]*$/;
const AMOUNT_DIGITS = /^(?:(?:\d{1,3}(?:,\d{3})+|\d{1,30})(?:\.\d{0,2}0*)?|\.\d{1,2}0*)$/;
const ROW_VERSION = /^[ \t-\r]*\(\d{1,10},\d{1,5}\)[ \t-\r]*$/;
const MAC_ADDRESS =
  /^[ \t-\r]*[0-9a-f]{2}([-:.]?[0-9a-f]{2}){5}(([-:.]?[0-9a-f]{2}){2})?[ \t-\r]*$/i;
const OIDS = /^(?:[ \t-\r]*(?:0|[1-9]\d{0,9})(?![\d]))*[ \t-\r]*$/;
const NATURAL = /^[ \t-\r]*\+?(\d{1,40})[ \t-\r]*$/;
const POSITIONS = /:[\dA-D*,]+/gi;
const POSITION = /^\d{1,9}[A-D*]?$/i;
const LAST_POSITION = 16383;
const MAX_POSITIONS = 255;

/**
 * Types whose input functions ignore parts of some texts: a word, a sign, trailing text, digits
 * beyond their precision. test/property/whole_values.test.ts finds them. Those of `xml` take too long
 * for some.
 */
const TEXT_CHECKS: ReadonlyMap<string, TextCheck> = new Map<string, TextCheck>([
  ...TIME_TYPES.map((type): [string, TextCheck] => [type, (text) => checkTime(text, type)]),
  ...RANGES.flatMap(([bound, ...names]) =>
    names.map((name): [string, TextCheck] => [name, (text) => checkRange(text, bound)])
  ),
  ["interval", checkInterval],
  ["money", checkAmount],
  ["oid", (text) => checkNatural(text, 2n ** 32n - 1n)],
  ["xid", (text) => checkNatural(text, 2n ** 32n - 1n)],
  ["cid", (text) => checkNatural(text, 2n ** 32n - 1n)],
  ["xid8", (text) => checkNatural(text, 2n ** 64n - 1n)],
  ["oidvector", (text) => OIDS.test(text) ? { text } : unknown("oidvector")],
  ["tid", (text) => ROW_VERSION.test(text) ? { text } : unknown("tid")],
  ["macaddr8", (text) => MAC_ADDRESS.test(text) ? { text } : unknown("macaddr8")],
  ["tsvector", checkLexemes],
  ["xml", checkXml],
]);

/**
 * Returns the check of a type's texts; undefined if Postgres either uses all of a text or rejects it.
 */
export function findTextCheck(baseType: string): TextCheck | undefined {
  return TEXT_CHECKS.get(baseType);
}

function unknown(type: string): Checked {
  return { expected: `a value that Postgres takes as ${type}` };
}

/** A bound cannot be cast by itself, so its offset cannot be converted. */
function checkRange(text: string, bound: TimeType): Checked {
  let bare = false;
  for (const element of readElements(text, "{}[](),")) {
    if (element.toLowerCase() === "empty") continue;
    const checked = checkTime(element, bound);
    if ("expected" in checked) return { expected: `${checked.expected} in each bound` };
    if (checked.zoned) return { expected: `a ${bound} without an offset in each bound` };
    bare ||= checked.bare === true;
  }
  return bare ? { text, bare } : { text };
}

function checkAmount(text: string): Checked {
  const { bare, owed } = AMOUNT.exec(text)?.groups ?? {};
  return AMOUNT_DIGITS.test(bare ?? owed ?? "")
    ? { text }
    : { expected: "an amount with at most two decimals" };
}

/**
 * Drops the sign and leading zeros: Postgres would wrap negative numbers, and read a leading zero as
 * octal.
 */
function checkNatural(text: string, most: bigint): Checked {
  const digits = NATURAL.exec(text)?.[1];
  const value = digits === undefined ? undefined : BigInt(digits);
  return value !== undefined && value <= most
    ? { text: String(value) }
    : { expected: `a whole number from 0 to ${most}` };
}

/** Postgres keeps 255 positions of a lexeme, and lowers those that are higher than the last. */
function checkLexemes(text: string): Checked {
  for (const [positions] of dropLexemes(text).matchAll(POSITIONS)) {
    const all = positions.slice(1).split(",");
    const fits = all.length <= MAX_POSITIONS &&
      all.every((one) => POSITION.test(one) && parseInt(one) <= LAST_POSITION);
    if (!fits) return { expected: `at most ${MAX_POSITIONS} positions up to ${LAST_POSITION}` };
  }
  return { text };
}

/** Leaves out what is quoted or escaped, where a colon has no meaning. */
function dropLexemes(text: string): string {
  let rest = "";
  let inQuotes = false;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === "\\") at++;
    else if (character === "'") inQuotes = !inQuotes;
    else if (!inQuotes) rest += character;
  }
  return rest;
}
