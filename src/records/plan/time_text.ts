import type { Checked } from "./predicate.ts";

/**
 * Dates and times as Postgres reads them, except for parts that it would read and drop: `date`
 * accepts a time, `time` accepts a date and an offset, and all accept weekdays, units and digits
 * beyond the microsecond.
 */

const SPACE = String.raw`[ \t-\r]*`;
const SEPARATOR = String.raw`[-/., \t-\r]+`;
const GAP = String.raw`[-/., \t-\r]*`;
const MONTH = "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|" +
  "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)";
const YEAR = String.raw`\d{1,7}`;
const TWO = String.raw`\d{1,2}`;
const DATE = [
  [YEAR, SEPARATOR, TWO, SEPARATOR, TWO],
  [TWO, SEPARATOR, TWO, SEPARATOR, YEAR],
  [YEAR, GAP, MONTH, GAP, TWO],
  [TWO, GAP, MONTH, GAP, YEAR],
  [MONTH, GAP, TWO, SEPARATOR, YEAR],
  [String.raw`\d{8}|\d{6}|\d{4,7}[-.]\d{3}`],
].map((parts) => parts.join("")).join("|");
/** `BC-02` is a zone, not an era. */
const WORD_END = "(?![-+/_a-z])";
const ERA = `${SPACE}(?:bc|ad)${WORD_END}`;
/** Days that cannot have an era: Postgres would drop it. */
const BARE_DAY = String.raw`(?:j\d{1,7}|today|tomorrow|yesterday)`;
const CLOCK = String.raw`(?:\d{1,2}:\d{1,2}(?::\d{1,2})?|\d{4}|\d{6})(?:\.(?<fraction>\d*))?` +
  `(?:${SPACE}[ap]m${WORD_END})?`;
/** Words that are not zones, although Postgres accepts and ignores some of them in place of a zone. */
const NO_ZONE = `(?:[ap]m|bc|ad|at|on|jd|mm|dst|dow|doy|isodow|isoyear|julian|now|today|tomorrow|` +
  `yesterday|epoch|infinity|allballs|${MONTH}|(?:mon|tues?|wed(?:nes)?|weds|thu|thurs?|fri|sat|` +
  `satur|sun)(?:day)?)`;
/** Names of zones, but not `XYZ+5`: Postgres reads it as five hours west, whatever the letters are. */
const ZONE_NAME = String.raw`etc/gmt[-+]\d{1,2}|est5edt|cst6cdt|mst7mdt|pst8pdt|[a-z]{2}[a-z_/-]*`;
const ZONE = String.raw`${SPACE}(?<zone>[-+]\d{1,2}(?::?\d{2}(?::?\d{2})?)?|z|` +
  `(?!${NO_ZONE}(?![a-z]))(?:${ZONE_NAME}))`;

const REST = String.raw`(?:(?:[ ,\t-\r]+t?|t)(?<clock>${CLOCK}))?(?:${ZONE})?`;
const ONLY_DATE = compile(`(?:${DATE})(?:${ERA})?|${BARE_DAY}`);
const ONLY_TIME = compile(`t?${CLOCK}(?:${ZONE})?`);
const MOMENTS = [compile(`(?:${DATE})(?:${ERA})?${REST}(?:${ERA})?`), compile(BARE_DAY + REST)];
const WORD = compile("now|epoch|[-+]?infinity");
const WORD_OF_TIME = compile("now|allballs");

/** More characters than Postgres accepts in a date with a time. */
const MAX_CHARACTERS = 200;
const MAX_FRACTION_DIGITS = 6;
const TOO_FINE = "at most 6 decimals of a second";

/** Types whose values are dates or times. */
export type TimeType = "date" | "time" | "timetz" | "timestamp" | "timestamptz";

/**
 * Checks that Postgres would keep every part of a date or time. Reports whether a `timestamp` has an
 * offset or zone, which Postgres would drop: such a value is cast by way of `timestamptz`. Reports
 * whether a `timestamptz` or `timetz` has none: such a value would depend on the session's zone.
 * @see V3, V12, V13
 */
export function checkTime(text: string, type: TimeType): Checked {
  if (text.length > MAX_CHARACTERS) return unknown(type);
  if (type === "date") return checkDate(text);
  if (type === "time" || type === "timetz") return checkClock(text, type);
  if (WORD.test(text)) return { text };
  const parts = readMoment(text);
  if (parts === undefined) return unknown(type);
  if (isTooFine(parts["fraction"])) return { expected: TOO_FINE };
  const zoned = parts["zone"] !== undefined;
  if (type === "timestamp") return { text, zoned };
  return zoned ? { text } : { text, bare: true };
}

function checkDate(text: string): Checked {
  if (ONLY_DATE.test(text) || WORD.test(text)) return { text };
  const parts = readMoment(text);
  if (parts === undefined) return unknown("date");
  return { expected: `a date without ${parts["clock"] === undefined ? "an offset" : "a time"}` };
}

function checkClock(text: string, type: "time" | "timetz"): Checked {
  if (WORD_OF_TIME.test(text)) return { text };
  const parts = ONLY_TIME.exec(text)?.groups;
  if (parts === undefined) {
    return readMoment(text) !== undefined ? { expected: "a time without a date" } : unknown(type);
  }
  if (type === "time" && parts["zone"] !== undefined) {
    return { expected: "a time without an offset" };
  }
  if (isTooFine(parts["fraction"])) return { expected: TOO_FINE };
  return type === "timetz" && parts["zone"] === undefined ? { text, bare: true } : { text };
}

function readMoment(text: string): Readonly<Record<string, string | undefined>> | undefined {
  for (const pattern of MOMENTS) {
    const parts = pattern.exec(text)?.groups;
    if (parts !== undefined) return parts;
  }
  return undefined;
}

/** Postgres would round. */
function isTooFine(fraction: string | undefined): boolean {
  return fraction !== undefined && fraction.replace(/0+$/, "").length > MAX_FRACTION_DIGITS;
}

function unknown(type: TimeType): Checked {
  return { expected: `a value that Postgres takes as ${type}` };
}

function compile(pattern: string): RegExp {
  return new RegExp(`^${SPACE}(?:${pattern})${SPACE}$`, "i");
}
