import { readLeaves } from "../text/array_text.ts";
import { judgeInterval, judgeTime, type TimeType } from "./time_text.ts";
import type { Judgement } from "./predicate.ts";

/** Checks that Postgres would use all of a text. */
type Judge = (text: string) => Judgement;

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
const MOST_POSITIONS = 255;

/**
 * Types whose input functions ignore a part of some texts, found by test/property/whole_values.test.ts:
 * a word, a sign, what stands behind, digits past the last that is kept.
 */
const JUDGES: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ...TIME_TYPES.map((type): [string, Judge] => [type, (text) => judgeTime(text, type)]),
  ...RANGES.flatMap(([bound, ...names]) =>
    names.map((name): [string, Judge] => [name, (text) => judgeRange(text, bound)])
  ),
  ["interval", judgeInterval],
  ["money", judgeAmount],
  ["oid", (text) => judgeNatural(text, 2n ** 32n - 1n)],
  ["xid", (text) => judgeNatural(text, 2n ** 32n - 1n)],
  ["cid", (text) => judgeNatural(text, 2n ** 32n - 1n)],
  ["xid8", (text) => judgeNatural(text, 2n ** 64n - 1n)],
  ["oidvector", (text) => OIDS.test(text) ? { text } : unknown("oidvector")],
  ["tid", (text) => ROW_VERSION.test(text) ? { text } : unknown("tid")],
  ["macaddr8", (text) => MAC_ADDRESS.test(text) ? { text } : unknown("macaddr8")],
  ["tsvector", judgeLexemes],
]);

/** Gives the check of a type's texts; undefined where Postgres uses or refuses all of each. */
export function findJudge(baseType: string): Judge | undefined {
  return JUDGES.get(baseType);
}

function unknown(type: string): Judgement {
  return { expected: `a value that Postgres takes as ${type}` };
}

/** A bound cannot go through another type by itself, so its offset cannot be converted. */
function judgeRange(text: string, bound: TimeType): Judgement {
  for (const leaf of readLeaves(text, "{}[](),")) {
    if (leaf.toLowerCase() === "empty") continue;
    const judgement = judgeTime(leaf, bound);
    if ("expected" in judgement) return { expected: `${judgement.expected} in each bound` };
    if (judgement.zoned) return { expected: `a ${bound} without an offset in each bound` };
  }
  return { text };
}

function judgeAmount(text: string): Judgement {
  const { bare, owed } = AMOUNT.exec(text)?.groups ?? {};
  return AMOUNT_DIGITS.test(bare ?? owed ?? "")
    ? { text }
    : { expected: "an amount with at most two decimals" };
}

/** Without sign and leading zeros: Postgres would wrap the one, and read the other as octal. */
function judgeNatural(text: string, most: bigint): Judgement {
  const digits = NATURAL.exec(text)?.[1];
  const value = digits === undefined ? undefined : BigInt(digits);
  return value !== undefined && value <= most
    ? { text: String(value) }
    : { expected: `a whole number from 0 to ${most}` };
}

/** Of a lexeme Postgres keeps so many positions, and moves the higher ones down to the last. */
function judgeLexemes(text: string): Judgement {
  for (const [positions] of dropLexemes(text).matchAll(POSITIONS)) {
    const all = positions.slice(1).split(",");
    const fits = all.length <= MOST_POSITIONS &&
      all.every((one) => POSITION.test(one) && parseInt(one) <= LAST_POSITION);
    if (!fits) return { expected: `at most ${MOST_POSITIONS} positions up to ${LAST_POSITION}` };
  }
  return { text };
}

/** Leaves out what is quoted or escaped, where a colon is no colon. */
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
