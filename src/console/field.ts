import type { Operator } from "../request/operators.ts";

/** A column as Get Fields tells it. @see T47 */
export interface Field {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
  readonly primary_key: boolean;
  readonly writable: boolean;
  readonly operators: readonly Operator[];
  readonly enum?: readonly string[];
  readonly comment: string | null;
}

/** A table as Get Tables tells it. @see T43 */
export interface TableEntry {
  readonly name: string;
  readonly primary_key: readonly string[];
  readonly writable: boolean;
  readonly comment: string | null;
}

/** The words of each operator on the screen. */
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
};

/** How many values an operator takes; undefined: a list. */
export function countValues(op: Operator): 0 | 1 | 2 | undefined {
  if (op === "is_null" || op === "is_not_null") return 0;
  if (op === "in" || op === "not_in") return undefined;
  return op === "between" ? 2 : 1;
}

const NUMBERS = new Set(["int2", "int4", "int8", "numeric", "float4", "float8"]);

/** Tells whether values of a type are numbers, which stand to the right. */
export function isNumber(type: string): boolean {
  return NUMBERS.has(type);
}
