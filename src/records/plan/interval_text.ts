import type { Checked } from "./predicate.ts";

const FRACTION = /\.(\d+)[ \t-\r]*([a-z]*)/gi;
const MICROSECONDS = /^(us|usecs?|useconds?|microseconds?)$/;
const MILLISECONDS = /^(ms|msecs?|mseconds?|milliseconds?)$/;
const YEARS =
  /^(yt?|yrs?|years?|dec|decs|decades?|c|cent|century|centuries|mils?|millennia|millennium)$/;
/** `P1Y2M3DT4H5M6.5S` or `P0001-02-03T04:05:06`. Postgres reads doubles, so there are few digits. */
const ISO =
  /^-?P(?:(?:[-+]?[\d.]{1,16}[YMWD])*(?:T(?:[-+]?[\d.]{1,16}[HMS])*)?|[-\d]{1,16}(?:T[:.\d]{1,16})?)[ \t-\r]*$/;
const INFINITE = /^[ \t-\r]*[-+]?infinity[ \t-\r]*$/i;
/** A number and its unit, hours and minutes, or years and months. Postgres reads 10 letters of a unit. */
const PART =
  /[-+]?(?:\d+:\d+(?::\d+)?(?:\.\d*)?|\d+-\d+|(?:\d+(?:\.\d*)?|\.\d+)[ \t-\r]*(?:(?:microsecond|millisecond|millennium)s?|[a-z]{0,9})(?![a-z]))[, \t-\r]*/iy;
const START = /^[ \t-\r]*@?[ \t-\r]*/;
const END = /^(?:ago[ \t-\r]*)?$/i;
/** More characters than Postgres accepts in an interval. */
const MAX_CHARACTERS = 200;

const UNKNOWN = { expected: "a value that Postgres takes as interval" };
const ROUNDED = { expected: "whole microseconds, and of years whole months" };

/**
 * Checks that Postgres would keep every part of an interval. Postgres rounds to microseconds, and
 * years to months, and drops a unit without a number.
 * @see V3
 */
export function checkInterval(text: string): Checked {
  if (INFINITE.test(text)) return { text };
  if (text.length > MAX_CHARACTERS || !ISO.test(text) && !isListed(text)) return UNKNOWN;
  for (const [, digits = "", unit = ""] of text.matchAll(FRACTION)) {
    if (isRounded(digits.replace(/0+$/, ""), unit.toLowerCase())) return ROUNDED;
  }
  return { text };
}

function isListed(text: string): boolean {
  let at = START.exec(text)![0].length;
  for (PART.lastIndex = at; PART.test(text); PART.lastIndex = at) at = PART.lastIndex;
  return END.test(text.slice(at));
}

function isRounded(digits: string, unit: string): boolean {
  if (MICROSECONDS.test(unit)) return digits !== "";
  if (MILLISECONDS.test(unit)) return digits.length > 3;
  if (!YEARS.test(unit)) return digits.length > 6;
  return BigInt(digits || "0") * 12n % 10n ** BigInt(digits.length) !== 0n;
}
