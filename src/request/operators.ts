import * as v from "valibot";
import { quote } from "../basics/errors/issue.ts";
import { MAX_LIST_VALUES } from "../basics/errors/limits.ts";
import { isScalar, type Json, type Scalar } from "../basics/json/json.ts";
import { nearest } from "../basics/text/nearest.ts";

/** A value of a filter: string, number, boolean or null. @see Q34 */
export const SCALAR: v.GenericSchema<unknown, Scalar> = v.custom<Scalar>(
  isScalar,
  (issue) => `${quote(issue.input)} is not a scalar, expected a string, number, boolean or null`,
);

/** A scalar that has a place in an order. @see Q46 */
const ORDERED: v.GenericSchema<unknown, Exclude<Scalar, null>> = v.custom<Exclude<Scalar, null>>(
  (value) => value !== null && isScalar(value),
  (issue) =>
    issue.input === null
      ? describeNull("compares with nothing")
      : `${quote(issue.input)} is not a scalar, expected a string, number or boolean`,
);

/** A pattern of LIKE; its length counts against the limit of a request. */
const PATTERN: v.GenericSchema<unknown, string> = v.pipe(
  v.string((issue) =>
    issue.input === null
      ? describeNull("is not a pattern")
      : `${quote(issue.input)} is not a pattern, expected a string, with % for any text`
  ),
  // Postgres would reject it only when it reaches a row.
  v.check(
    hasEveryBackslashPaired,
    (issue) => `${quote(issue.input)} ends in a single backslash, expected it doubled or left out`,
  ),
);

// The length is checked before the items, since there may be 500,000.
const LIST: v.GenericSchema<unknown, Scalar[]> = v.pipe(
  v.custom<unknown[]>(
    (value) => Array.isArray(value) && value.length >= 1 && value.length <= MAX_LIST_VALUES,
    (issue) =>
      `${describeArray(issue.input)}, expected an array of 1 to ${MAX_LIST_VALUES} scalars`,
  ),
  v.array(SCALAR),
);

type Ordered = Exclude<Scalar, null>;
const RANGE: v.GenericSchema<unknown, [Ordered, Ordered]> = v.pipe(
  v.custom<unknown[]>(
    (value) => Array.isArray(value) && value.length === 2,
    (issue) =>
      issue.input === null
        ? describeNull("is not a range")
        : `${describeArray(issue.input)}, expected an array of exactly 2 scalars`,
  ),
  v.tuple([ORDERED, ORDERED]),
);

/** A literal text, without wildcards. */
const BEGINNING: v.GenericSchema<string> = v.pipe(
  v.string((issue) =>
    issue.input === null
      ? describeNull("cannot be the beginning of a text")
      : `${quote(issue.input)} is not text, expected a string`
  ),
);

/** The value of `contains`. `parseFilters` limits its items. */
const CONTAINED: v.GenericSchema<Exclude<Json, null>> = v.custom<Exclude<Json, null>>(
  (value) => value !== null,
  () => describeNull("cannot be contained in a value"),
);

/** The properties of an operator that do not depend on a column. */
interface OperatorRule {
  /** The shape of its value; null: it takes none. */
  readonly value: v.GenericSchema | null;
  /** What the type of the column must support. */
  readonly needs: "equality" | "order" | "text" | "letters" | "container" | "nothing";
  /**
   * Names of the operator in other interfaces: errors map them to this one, but they are never
   * accepted.
   */
  readonly elsewhere: readonly string[];
}

/**
 * Every operator, in the order of the documentation. A new one begins here. The compiler then asks for
 * its predicate (`plan/condition.ts`) and its label (`console/filter_tree.ts`); for a new kind of
 * predicate also for its SQL (`sql/predicate.ts`) and for those of its values that Postgres may reject
 * (`records/locate_values.ts`). What it does not ask for: how many values the console offers, and of
 * which type (`countValues` and `writeFilter` in `console/filter_tree.ts`), the types in
 * `interface/typescript/print_tables.ts`, and the documentation.
 * @see Q18
 * @see docs/specification/query.md#the-shape-of-values
 */
export const OPERATORS = {
  eq: { value: SCALAR, needs: "equality", elsewhere: ["=", "==", "equals", "is"] },
  neq: { value: SCALAR, needs: "equality", elsewhere: ["!=", "<>"] },
  gt: { value: ORDERED, needs: "order", elsewhere: [">"] },
  gte: { value: ORDERED, needs: "order", elsewhere: [">=", "ge"] },
  lt: { value: ORDERED, needs: "order", elsewhere: ["<"] },
  lte: { value: ORDERED, needs: "order", elsewhere: ["<=", "le"] },
  like: { value: PATTERN, needs: "nothing", elsewhere: ["~~"] },
  not_like: { value: PATTERN, needs: "nothing", elsewhere: ["!~~"] },
  in: { value: LIST, needs: "equality", elsewhere: [] },
  not_in: { value: LIST, needs: "equality", elsewhere: ["nin"] },
  between: { value: RANGE, needs: "order", elsewhere: [] },
  is_null: { value: null, needs: "nothing", elsewhere: [] },
  is_not_null: { value: null, needs: "nothing", elsewhere: [] },
  ilike: { value: PATTERN, needs: "letters", elsewhere: ["~~*"] },
  not_ilike: { value: PATTERN, needs: "letters", elsewhere: ["!~~*"] },
  starts_with: {
    value: BEGINNING,
    needs: "text",
    elsewhere: ["^@", "startswith", "starts-with", "begins_with", "prefix"],
  },
  contains: { value: CONTAINED, needs: "container", elsewhere: ["@>", "has", "includes"] },
} as const satisfies Readonly<Record<string, OperatorRule>>;

/** The name of an operator. */
export type Operator = keyof typeof OPERATORS;

/** The value of an operator; null: it takes none. */
export type OperatorValue<Op extends Operator> = (typeof OPERATORS)[Op]["value"] extends
  v.GenericSchema ? v.InferOutput<(typeof OPERATORS)[Op]["value"]> : null;

/** The names of all operators, in the order of {@link OPERATORS}. */
export const OPERATOR_NAMES = Object.keys(OPERATORS) as readonly Operator[];

/** Advice for operators that do not exist. */
const ADVICE: ReadonlyMap<string, string> = new Map([
  ["ends_with", 'like with "%text"'],
  ["endswith", 'like with "%text"'],
  ["icontains", 'ilike with "%text%"'],
  ["not_contains", 'not_like with "%text%"'],
  ["iequals", "ilike without wildcards"],
  ["overlaps", "several conditions with contains, in an or"],
]);

const ELSEWHERE: ReadonlyMap<string, Operator> = new Map(
  OPERATOR_NAMES.flatMap((name) => OPERATORS[name].elsewhere.map((other) => [other, name])),
);

/** Reports whether a value is the name of an operator, spelt exactly so. */
export function isOperator(value: unknown): value is Operator {
  // `in` would accept `constructor`.
  return typeof value === "string" && Object.hasOwn(OPERATORS, value);
}

/** Reports whether the value of an operator is a pattern, whose length is limited. */
export function takesPattern(op: Operator): boolean {
  return OPERATORS[op].value === PATTERN;
}

/** Says that an operator is not supported, and which one was probably meant. @see E19 */
export function describeBadOperator(op: unknown): string {
  const advice = typeof op === "string" ? ADVICE.get(op.toLowerCase()) : undefined;
  if (advice !== undefined) return `${quote(op)} is not a supported operator, expected ${advice}`;
  const meant = typeof op === "string"
    ? ELSEWHERE.get(op.toLowerCase()) ?? nearest(op, OPERATOR_NAMES)
    : undefined;
  return `${quote(op)} is not a supported operator, ` +
    (meant === undefined
      ? `expected one of ${OPERATOR_NAMES.join(", ")}`
      : `did you mean "${meant}"`);
}

function describeNull(why: string): string {
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
