import type { Judgement } from "./predicate.ts";
import { readLeaves } from "../text/array_text.ts";
import type { Column, ValueKind } from "../catalogue/catalogue.ts";
import { quote } from "../errors/issue.ts";
import { MAX_TSQUERY_CHARACTERS } from "../errors/limits.ts";
import { nearest } from "../text/nearest.ts";
import type { Scalar } from "../json/json.ts";
import { isDecimal, isWholeNumber, printsTooLong } from "./number_text.ts";
import { findJudge } from "./text_checks.ts";

/** The part of a column that decides what values it takes. */
export type ValueType = Pick<Column, "kind" | "type" | "baseType" | "domain" | "labels">;

/** Types that take a JSON number though their kind is `other`. */
const NUMBER_TYPES: ReadonlySet<string> = new Set(["money", "oid", "xid", "xid8", "cid"]);
/** What Postgres reads as a boolean: any unique beginning of these words, and the digits. */
const BOOLEAN_TEXT =
  /^[ \t-\r]*(t|tr|tru|true|f|fa|fal|fals|false|y|ye|yes|n|no|on|of|off|1|0)[ \t-\r]*$/i;
const UUID_TEXT = /^(\{[0-9a-f]{4}(-?[0-9a-f]{4}){7}\}|[0-9a-f]{4}(-?[0-9a-f]{4}){7})$/i;

const DECIDED_KINDS: ReadonlySet<ValueKind> = new Set(
  ["boolean", "int2", "int4", "int8", "text", "uuid", "enum"],
);

/**
 * Tells whether {@link judgeScalar} has the last word on values of a type. It has not on dates,
 * decimals, ranges, domains …: a statement then casts them whether or not a row is reached.
 */
export function isDecided(type: ValueType): boolean {
  return DECIDED_KINDS.has(type.kind) && !type.domain;
}

/**
 * Checks a scalar against a column's type and gives its text as Postgres's input function takes it;
 * lossless conversions only. `literal` is the client's text of a number that prints as another:
 * `1.50` stays so where digits count.
 * @see V1, V2, V4
 */
export function judgeScalar(
  value: Exclude<Scalar, null>,
  type: ValueType,
  literal?: string,
): Judgement {
  return typeof value === "string" ? judgeText(value, type) : judgeBare(value, type, literal);
}

/** Numbers and booleans: their JSON text, where the type can hold it without loss. */
function judgeBare(
  value: number | boolean,
  type: ValueType,
  literal: string | undefined,
): Judgement {
  const text = String(value);
  const written = literal ?? text;
  if (type.kind === "json") return { text: written };
  if (type.kind === "text") return judgeText(written, type);
  if (typeof value === "boolean") {
    return type.kind === "boolean" ? { text } : refuse(type);
  }
  switch (type.kind) {
    case "boolean":
      return value === 0 || value === 1 ? { text } : refuse(type);
    case "int2":
    case "int4":
    case "int8":
      return isWholeNumber(text, type.kind) ? { text } : refuse(type);
    case "float4":
    case "float8":
      return isDecimal(text) ? { text } : refuse(type);
    case "numeric":
      return isDecimal(written) ? judgeDigits(written) : refuse(type);
    default:
      return NUMBER_TYPES.has(type.baseType) ? judgeText(text, type) : refuse(type);
  }
}

function judgeText(text: string, type: ValueType): Judgement {
  switch (type.kind) {
    case "text":
      return isCut(text, type.baseType) ? refuse(type) : { text };
    case "boolean":
      return BOOLEAN_TEXT.test(text) ? { text } : refuse(type);
    case "int2":
    case "int4":
    case "int8":
      return isWholeNumber(text, type.kind) ? { text } : refuse(type);
    case "float4":
    case "float8":
      return isDecimal(text) ? { text } : refuse(type);
    case "numeric":
      return isDecimal(text) ? judgeDigits(text) : refuse(type);
    case "uuid":
      return UUID_TEXT.test(text) ? { text } : refuse(type);
    case "enum":
      return judgeLabel(text, type);
    case "array":
      return judgeLiteral(text, type);
    default:
      if (isLongQuery(text, type)) {
        return { expected: `at most ${MAX_TSQUERY_CHARACTERS} characters` };
      }
      if (HOLDS_NUMERIC.test(type.baseType)) return judgeDigits(text);
      return findJudge(type.baseType)?.(text) ?? { text };
  }
}

/** Arrays and ranges of numeric, written as Postgres does. */
const HOLDS_NUMERIC = /^num(eric|range|multirange)/;

/** Refuses numbers whose exponents make them print far longer than they are written. */
export function judgeDigits(text: string): Judgement {
  return printsTooLong(text) ? { expected: "exponents that give fewer digits" } : { text };
}

/** An array in Postgres's own notation: each element as if it were sent by itself. */
function judgeLiteral(text: string, type: ValueType): Judgement {
  if (HOLDS_NUMERIC.test(type.baseType)) return judgeDigits(text);
  const baseType = type.baseType.replace(/\[\]$/, "");
  const kind = baseType === "name" || baseType === "char" ? "text" : "other";
  const isJudged = kind === "text" || baseType === "tsquery" || findJudge(baseType) !== undefined;
  if (!isJudged) return { text };
  const element: ValueType = { kind, type: baseType, baseType, domain: false, labels: undefined };
  const judgements: Judgement[] = [];
  for (const leaf of readLeaves(text.slice(Math.max(0, text.indexOf("{"))), "{},")) {
    if (leaf.toUpperCase() === "NULL") continue;
    const judgement = judgeText(leaf, element);
    if ("expected" in judgement) return { expected: `${judgement.expected} in each element` };
    if (judgement.text !== leaf) return refuse(type);
    judgements.push(judgement);
  }
  return judgeTogether(text, judgements);
}

/** An array is cast as one: all of its elements have an offset, or none. */
export function judgeTogether(text: string, judgements: readonly Judgement[]): Judgement {
  const zoned = new Set(judgements.map((one) => "text" in one ? one.zoned : undefined));
  if (zoned.has(true) && zoned.has(false)) {
    return { expected: "an offset in all elements or in none" };
  }
  return zoned.has(true) ? { text, zoned: true } : { text };
}

/** Postgres reads a `tsquery` in quadratic time: one of 400,000 characters in 14 s, deaf to cancels. */
function isLongQuery(text: string, { kind, baseType }: ValueType): boolean {
  // A composite value may hold one.
  return (baseType === "tsquery" || kind === "composite") && text.length > MAX_TSQUERY_CHARACTERS;
}

/** True where Postgres would cut the text silently, and so find or store another value. */
function isCut(text: string, baseType: string): boolean {
  const maxBytes = baseType === "char" ? 1 : baseType === "name" ? 63 : Infinity;
  return maxBytes !== Infinity && new TextEncoder().encode(text).length > maxBytes;
}

function judgeLabel(text: string, type: ValueType): Judgement {
  const labels = type.labels ?? [];
  if (labels.includes(text)) return { text };
  const near = nearest(text, labels);
  if (near !== undefined) return { expected: `${article(type)}, did you mean ${quote(near)}` };
  return { expected: `one of ${labels.slice(0, 20).map(quote).join(", ")}` };
}

function refuse(type: ValueType): Judgement {
  return { expected: EXPECTED.get(type.kind) ?? `a string that is ${article(type)}` };
}

function article(type: ValueType): string {
  return `a value of type ${type.type}`;
}

const EXPECTED: ReadonlyMap<ValueKind, string> = new Map([
  ["boolean", "true or false"],
  ["int2", "a whole number from -32768 to 32767"],
  ["int4", "a whole number from -2147483648 to 2147483647"],
  ["int8", "a whole number from -9223372036854775808 to 9223372036854775807"],
  ["float4", "a number"],
  ["float8", "a number"],
  ["numeric", "a number"],
  ["uuid", "a uuid"],
]);
