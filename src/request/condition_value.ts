import * as v from "valibot";
import { quote } from "../errors/issue.ts";
import { MAX_LIST_VALUES } from "../errors/limits.ts";
import type { NullOperator, Operator, Scalar } from "./filter.ts";

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

/** Tells whether a JSON value is a scalar. @see Q34 */
export function isScalar(value: unknown): value is Scalar {
  return value === null || typeof value !== "object";
}

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
