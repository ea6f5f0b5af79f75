import type { Column } from "../catalogue/catalogue.ts";
import type { Operator } from "../request/operators.ts";

const EQUALITY: readonly Operator[] = ["eq", "neq", "in", "not_in"];
const ORDER: readonly Operator[] = ["gt", "gte", "lt", "lte", "between"];
const ALWAYS: readonly Operator[] = ["like", "not_like", "is_null", "is_not_null"];

/** By whether a type has equality, and whether it has an order. */
const ADMITTED = [false, true].map((equality) =>
  [false, true].map((order) => listOperators(equality, order))
);

/**
 * The operators that a column's type admits, in the order in which Get Fields lists them.
 * @see T50
 */
export function operatorsOf({ equality, order }: Column): readonly Operator[] {
  return ADMITTED[Number(equality)]![Number(order)]!;
}

function listOperators(equality: boolean, order: boolean): readonly Operator[] {
  return [
    ...(equality ? EQUALITY.slice(0, 2) : []),
    ...(order ? ORDER.slice(0, 4) : []),
    ...ALWAYS.slice(0, 2),
    ...(equality ? EQUALITY.slice(2) : []),
    ...(order ? ORDER.slice(4) : []),
    ...ALWAYS.slice(2),
  ];
}
