import { quote } from "../errors/issue.ts";
import { nearest } from "../text/nearest.ts";
import type { NullOperator, Operator } from "./filter.ts";

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
