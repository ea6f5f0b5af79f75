import { quote } from "../errors/issue.ts";
import { nearest } from "../text/nearest.ts";
import { MAX_LIST_VALUES } from "../errors/limits.ts";
import { isScalar, type Scalar } from "../json/json.ts";

/** Operators whose value is a scalar. */
export type ScalarOperator = "eq" | "neq" | "gt" | "gte" | "lt" | "lte";
/** Operators whose value is a pattern. */
export type PatternOperator = "like" | "not_like";
/** Operators whose value is a list. */
export type ListOperator = "in" | "not_in";
/** The operator whose value is two bounds. */
export type RangeOperator = "between";
/** Operators that take no value. */
export type NullOperator = "is_null" | "is_not_null";
/** Every operator. @see Q18 */
export type Operator =
  | ScalarOperator
  | PatternOperator
  | ListOperator
  | RangeOperator
  | NullOperator;

/** The operators, in the order of docs/specification/query.md. */
export const OPERATORS: readonly Operator[] = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "like",
  "not_like",
  "in",
  "not_in",
  "between",
  "is_null",
  "is_not_null",
];

/** What other interfaces call them; told, never accepted. */
const OTHER_SPELLINGS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ["=", "eq"],
  ["==", "eq"],
  ["equals", "eq"],
  ["is", "eq"],
  ["!=", "neq"],
  ["<>", "neq"],
  [">", "gt"],
  [">=", "gte"],
  ["ge", "gte"],
  ["<", "lt"],
  ["<=", "lte"],
  ["le", "lte"],
  ["contains", "like"],
  ["starts_with", "like"],
  ["nin", "not_in"],
]);

/** Tells whether a value is an operator, spelt exactly so. */
export function isOperator(value: unknown): value is Operator {
  return (OPERATORS as readonly unknown[]).includes(value);
}

/** Tells whether a value is one of the two operators that take no value. */
export function isNullOperator(value: unknown): value is NullOperator {
  return value === "is_null" || value === "is_not_null";
}

/** Says that an operator is not supported, and which one was probably meant. @see E19 */
export function describeBadOperator(op: unknown): string {
  const meant = typeof op === "string"
    ? OTHER_SPELLINGS.get(op.toLowerCase()) ?? nearest(op, OPERATORS)
    : undefined;
  return `${quote(op)} is not a supported operator, ` +
    (meant === undefined ? `expected one of ${OPERATORS.join(", ")}` : `did you mean "${meant}"`);
}

import * as v from "valibot";

/** A value of a filter: string, number, boolean or null. @see Q34 */
export const SCALAR = v.custom<Scalar>(
  isScalar,
  (issue) => `${quote(issue.input)} is not a scalar, expected a string, number, boolean or null`,
);

/** A scalar that has a place in an order. @see Q46 */
const ORDERED = v.custom<Exclude<Scalar, null>>(
  (value) => value !== null && isScalar(value),
  (issue) =>
    issue.input === null
      ? refuseNull("compares with nothing")
      : `${quote(issue.input)} is not a scalar, expected a string, number or boolean`,
);

const PATTERN = v.pipe(
  v.string((issue) =>
    issue.input === null
      ? refuseNull("is not a pattern")
      : `${quote(issue.input)} is not a pattern, expected a string, with % for any text`
  ),
  // Postgres would notice only when it reaches a row.
  v.check(
    hasEveryBackslashPaired,
    (issue) => `${quote(issue.input)} ends in a single backslash, expected it doubled or left out`,
  ),
);

// The length is checked before the items are looked at: there may be 500,000.
const LIST = v.pipe(
  v.custom<unknown[]>(
    (value) => Array.isArray(value) && value.length >= 1 && value.length <= MAX_LIST_VALUES,
    (issue) =>
      `${describeArray(issue.input)}, expected an array of 1 to ${MAX_LIST_VALUES} scalars`,
  ),
  v.array(SCALAR),
);

const RANGE = v.pipe(
  v.custom<unknown[]>(
    (value) => Array.isArray(value) && value.length === 2,
    (issue) =>
      issue.input === null
        ? refuseNull("is not a range")
        : `${describeArray(issue.input)}, expected an array of exactly 2 scalars`,
  ),
  v.tuple([ORDERED, ORDERED]),
);

type ValueSchema = v.GenericSchema<unknown, Scalar | readonly Scalar[]>;

/**
 * The shape of the value for each operator that takes one. A Map, since an object would know an
 * operator `constructor`.
 * @see docs/specification/query.md#the-shape-of-values
 */
export const CONDITION_VALUES: ReadonlyMap<Exclude<Operator, NullOperator>, ValueSchema> = new Map<
  Exclude<Operator, NullOperator>,
  ValueSchema
>([
  ["eq", SCALAR],
  ["neq", SCALAR],
  ["gt", ORDERED],
  ["gte", ORDERED],
  ["lt", ORDERED],
  ["lte", ORDERED],
  ["like", PATTERN],
  ["not_like", PATTERN],
  ["in", LIST],
  ["not_in", LIST],
  ["between", RANGE],
]);

function refuseNull(why: string): string {
  return `null ${why}, use is_null or is_not_null to test for it`;
}

function describeArray(value: unknown): string {
  if (!Array.isArray(value)) return `${quote(value)} is not an array`;
  return value.length === 1 ? "the array has 1 value" : `the array has ${value.length} values`;
}

function hasEveryBackslashPaired(pattern: string): boolean {
  let end = pattern.length;
  while (end > 0 && pattern[end - 1] === "\\") end--;
  return (pattern.length - end) % 2 === 0;
}
