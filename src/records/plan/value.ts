import type { Column } from "../../catalogue/catalogue.ts";
import type { ValueKind } from "../../catalogue/value_kind.ts";
import { quote } from "../../basics/errors/issue.ts";
import { VALUE_ZEROS } from "../../basics/errors/limits.ts";
import type { Scalar } from "../../basics/json/json.ts";
import { readElements } from "../../basics/text/array_text.ts";
import { nearest } from "../../basics/text/nearest.ts";
import { countZeros, isDecimal, isWholeNumber } from "./number_text.ts";
import type { Checked } from "./predicate.ts";
import { findTextCheck } from "./text_checks.ts";

/** The parts of a column that determine which values it takes. */
export type ValueType = Pick<Column, "kind" | "type" | "baseType" | "domain" | "labels">;

/** Options of a check, besides the type. */
export interface ValueOptions {
  /** The text of a number that would print differently. */
  readonly literal?: string | undefined;
  /** Of a `tsquery`. */
  readonly maxTsqueryCharacters: number;
}

/** Kinds that take a JSON number; a boolean takes 0 and 1. */
const NUMBER_KINDS: ReadonlySet<ValueType["kind"]> = new Set<ValueType["kind"]>(
  ["boolean", "int2", "int4", "int8", "float4", "float8", "numeric"],
);
/** Types that take a JSON number though their kind is `other`. */
const NUMBER_TYPES: ReadonlySet<string> = new Set(["money", "oid", "xid", "xid8", "cid"]);
/** Texts that Postgres reads as a boolean: the words, their unique prefixes, 0 and 1. */
const BOOLEAN_TEXT =
  /^[ \t-\r]*(t|tr|tru|true|f|fa|fal|fals|false|y|ye|yes|n|no|on|of|off|1|0)[ \t-\r]*$/i;
const UUID_TEXT = /^(\{[0-9a-f]{4}(-?[0-9a-f]{4}){7}\}|[0-9a-f]{4}(-?[0-9a-f]{4}){7})$/i;

const CERTAIN_KINDS: ReadonlySet<ValueKind> = new Set(
  ["boolean", "int2", "int4", "int8", "text", "uuid", "enum"],
);

/**
 * Reports whether Postgres accepts every value of a type that {@link checkScalar} accepts. It may
 * reject dates, decimals, ranges, domains and others, so statements cast these even if they reach no
 * row.
 */
export function isCertain(type: ValueType): boolean {
  return CERTAIN_KINDS.has(type.kind) && !type.domain;
}

/**
 * Checks a scalar against a column's type, and returns its text for the type's input function.
 * Nothing is lost: `1.50` stays `1.50`.
 * @see V1, V2, V4
 */
export function checkScalar(
  value: Exclude<Scalar, null>,
  type: ValueType,
  options: ValueOptions,
): Checked {
  return typeof value === "string"
    ? checkText(value, type, options)
    : checkBare(value, type, options);
}

/** Checks a number or boolean: the type must hold its JSON text without loss. */
function checkBare(
  value: number | boolean,
  type: ValueType,
  options: ValueOptions,
): Checked {
  const text = String(value);
  const written = options.literal ?? text;
  if (type.kind === "json") return { text: written };
  if (type.kind === "text") return checkText(written, type, options);
  if (typeof value === "boolean") {
    return type.kind === "boolean" ? { text } : reject(type);
  }
  if (type.kind === "numeric") return checkText(written, type, options);
  const takesNumbers = NUMBER_KINDS.has(type.kind) || NUMBER_TYPES.has(type.baseType);
  // A double has a zero below zero, which String() prints without its sign.
  const isSigned = Object.is(value, -0) && (type.kind === "float4" || type.kind === "float8");
  return takesNumbers ? checkText(isSigned ? "-0" : text, type, options) : reject(type);
}

function checkText(text: string, type: ValueType, options: ValueOptions): Checked {
  switch (type.kind) {
    case "text":
      return isCut(text, type.baseType) ? reject(type) : { text };
    case "boolean":
      return BOOLEAN_TEXT.test(text) ? { text } : reject(type);
    case "int2":
    case "int4":
    case "int8":
      return isWholeNumber(text, type.kind) ? { text } : reject(type);
    case "float4":
    case "float8":
      return isDecimal(text) ? { text } : reject(type);
    case "numeric":
      return isDecimal(text) ? checkDigits(text) : reject(type);
    case "uuid":
      return UUID_TEXT.test(text) ? { text } : reject(type);
    case "enum":
      return checkLabel(text, type);
    case "array":
      return checkArrayText(text, type, options);
    default:
      if (text.length > options.maxTsqueryCharacters && mayHoldQuery(type)) {
        return { expected: `at most ${options.maxTsqueryCharacters} characters` };
      }
      if (HOLDS_NUMERIC.test(type.baseType)) return checkDigits(text);
      return findTextCheck(type.baseType)?.(text) ?? { text };
  }
}

/** Arrays and ranges of numeric, in Postgres's own notation. */
const HOLDS_NUMERIC = /^num(eric|range|multirange)/;

/**
 * Rejects numbers that print far longer than they are written, because of their exponents.
 * @see docs/decisions/0018-pages.md
 */
export function checkDigits(text: string): Checked {
  const most = VALUE_ZEROS.free + VALUE_ZEROS.perCharacter * text.length;
  return countZeros(text) > most
    ? { expected: `exponents that add at most ${most} zeros` }
    : { text };
}

/** Checks an array in Postgres's own notation: each element as if it were sent by itself. */
function checkArrayText(text: string, type: ValueType, options: ValueOptions): Checked {
  if (HOLDS_NUMERIC.test(type.baseType)) return checkDigits(text);
  const baseType = type.baseType.replace(/\[\]$/, "");
  const kind = baseType === "name" || baseType === "char" ? "text" : "other";
  const isChecked = kind === "text" || baseType === "tsquery" ||
    findTextCheck(baseType) !== undefined;
  if (!isChecked) return { text };
  const element: ValueType = { kind, type: baseType, baseType, domain: false, labels: undefined };
  const all: Checked[] = [];
  for (const part of readElements(text.slice(Math.max(0, text.indexOf("{"))), "{},")) {
    if (part.toUpperCase() === "NULL") continue;
    const checked = checkText(part, element, options);
    if ("expected" in checked) return { expected: `${checked.expected} in each element` };
    if (checked.text !== part) return reject(type);
    all.push(checked);
  }
  return checkOffsets(text, all);
}

/** An array has one cast: all of its elements must have an offset, or none. */
export function checkOffsets(text: string, elements: readonly Checked[]): Checked {
  const zoned = new Set(elements.map((one) => "text" in one ? one.zoned : undefined));
  if (zoned.has(true) && zoned.has(false)) {
    return { expected: "an offset in all elements or in none" };
  }
  if (elements.some((one) => "text" in one && one.bare)) return { text, bare: true };
  if (!zoned.has(true)) return { text };
  return ONE_DIMENSION.test(text)
    ? { text, zoned: true }
    : { expected: "an offset only in an array of one dimension" };
}

/** Elements are converted one by one. */
const ONE_DIMENSION = /^[^[{]*\{[^{]*$/;

/**
 * Reports whether a value may contain a `tsquery`: Postgres takes seconds to read a long one.
 */
function mayHoldQuery({ kind, baseType }: ValueType): boolean {
  return baseType === "tsquery" || kind === "composite";
}

/** True when Postgres would cut the text silently, and find or store another value. */
function isCut(text: string, baseType: string): boolean {
  const maxBytes = baseType === "char" ? 1 : baseType === "name" ? 63 : Infinity;
  return maxBytes !== Infinity && new TextEncoder().encode(text).length > maxBytes;
}

function checkLabel(text: string, type: ValueType): Checked {
  const labels = type.labels ?? [];
  if (labels.includes(text)) return { text };
  const near = nearest(text, labels);
  if (near !== undefined) return { expected: `${article(type)}, did you mean ${quote(near)}` };
  return { expected: `one of ${labels.slice(0, 20).map(quote).join(", ")}` };
}

function reject(type: ValueType): Checked {
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
