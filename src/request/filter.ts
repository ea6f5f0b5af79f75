import type { Path } from "../issue.ts";

/** A value of a condition. @see spec 2 */
export type Scalar = string | number | boolean | null;

/** The operators of spec 2 by the shape of their value. */
export type ScalarOperator = "eq" | "neq" | "gt" | "gte" | "lt" | "lte";
export type PatternOperator = "like" | "not_like";
export type ListOperator = "in" | "not_in";
export type RangeOperator = "between";
export type NullOperator = "is_null" | "is_not_null";
export type Operator =
  | ScalarOperator
  | PatternOperator
  | ListOperator
  | RangeOperator
  | NullOperator;

/** One condition, its shape right. `path` is where it stands: `filters.and[1]`. @see spec 2 */
export type Condition =
  & { readonly kind: "condition"; readonly field: string; readonly path: Path }
  & (
    | { readonly op: ScalarOperator; readonly value: Scalar }
    | { readonly op: PatternOperator; readonly value: string }
    | { readonly op: ListOperator; readonly value: readonly Scalar[] }
    | { readonly op: RangeOperator; readonly value: readonly [Scalar, Scalar] }
    | { readonly op: NullOperator }
  );

/** A group, its shape right. @see spec 2 */
export interface Group {
  readonly kind: "group";
  readonly combine: "and" | "or";
  readonly items: readonly Filter[];
  readonly path: Path;
}

export type Filter = Group | Condition;
