import type { Path } from "../errors/issue.ts";

/** A value of a condition. @see Q34 */
export type Scalar = string | number | boolean | null;

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

/** One condition, its shape right. `path` is where it stands: `filters.and[1]`. @see Q17 */
export type Condition =
  & { readonly kind: "condition"; readonly field: string; readonly path: Path }
  & (
    | { readonly op: ScalarOperator; readonly value: Scalar }
    | { readonly op: PatternOperator; readonly value: string }
    | { readonly op: ListOperator; readonly value: readonly Scalar[] }
    | { readonly op: RangeOperator; readonly value: readonly [Scalar, Scalar] }
    | { readonly op: NullOperator }
  );

/** A group, its shape right. @see Q6 */
export interface Group {
  readonly kind: "group";
  readonly combine: "and" | "or";
  readonly items: readonly Filter[];
  readonly path: Path;
}

/** What a client may put in `filters` and in a group, names still strings. @see Q11 */
export type Filter = Group | Condition;
