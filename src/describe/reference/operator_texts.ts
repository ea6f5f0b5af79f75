import type { Operator } from "../../request/operators.ts";

/** How each operator is shown. */
export const OPERATOR_LABELS: Readonly<Record<Operator, string>> = {
  eq: "=",
  neq: "≠",
  gt: ">",
  gte: "≥",
  lt: "<",
  lte: "≤",
  between: "between",
  in: "in",
  not_in: "not in",
  like: "like",
  not_like: "not like",
  is_null: "is NULL",
  is_not_null: "is not NULL",
  ilike: "like, any case",
  not_ilike: "not like, any case",
  starts_with: "starts with",
  contains: "contains",
};

/** What each operator is compared with. */
export const OPERATOR_VALUES: Readonly<Record<Operator, string>> = {
  eq: "A value. `null` means `is_null`",
  neq: "A value. `null` means `is_not_null`",
  gt: "A value, not `null`",
  gte: "A value, not `null`",
  lt: "A value, not `null`",
  lte: "A value, not `null`",
  like: "A pattern: `%` stands for any text, `_` for one character, a backslash escapes both",
  not_like: "A pattern, as for `like`",
  in: "An array of values",
  not_in: "An array of values",
  between: "An array of two values, both included",
  is_null: "None",
  is_not_null: "None",
  ilike: "A pattern, as for `like`; upper and lower case are alike",
  not_ilike: "A pattern, as for `ilike`",
  starts_with: "A text, without wildcards",
  contains: "Of an array: an element, or an array of elements; of `jsonb`: JSON; of a range: a " +
    "value or a range",
};

/** Operators of some types only; of the others, nearly every type has all. */
const FURTHER: ReadonlySet<string> = new Set(["ilike", "not_ilike", "starts_with", "contains"]);

/** What `all` stands for where the operators of a column are summarised. */
export const GENERAL_OPERATORS: readonly Operator[] = (Object.keys(OPERATOR_LABELS) as Operator[])
  .filter((op) => !FURTHER.has(op));

/**
 * Shortens the operators of a column: whether it has all that most types have, and its additional
 * ones.
 */
export function summariseOperators(
  operators: readonly Operator[],
): { readonly all: boolean; readonly others: readonly Operator[] } {
  const further = operators.filter((op) => FURTHER.has(op));
  const all = operators.length - further.length === GENERAL_OPERATORS.length;
  return { all, others: all ? further : operators };
}
