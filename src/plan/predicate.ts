import type { Column } from "../catalogue/catalogue.ts";
import type { Path } from "../errors/issue.ts";

/** A value for one column, as text that Postgres's input function of `column.cast` takes. */
export interface Value {
  readonly text: string;
  /** False where only Postgres can judge values of the column's type. */
  readonly decided: boolean;
  /** True where a `timestamp` has an offset, which its input function would drop. */
  readonly zoned?: boolean | undefined;
  /** Where the client wrote it. */
  readonly path: Path;
}

/** The binary comparisons that every ordered type has. */
export type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** A filter whose names are columns and whose values are checked; NULL never hides in a value. */
export type Predicate =
  | { readonly kind: "and" | "or"; readonly items: readonly Predicate[] }
  | {
    readonly kind: "compare";
    readonly column: Column;
    readonly comparison: Comparison;
    readonly value: Value;
  }
  | {
    readonly kind: "between";
    readonly column: Column;
    readonly low: Value;
    readonly high: Value;
  }
  | {
    readonly kind: "member";
    readonly column: Column;
    readonly negated: boolean;
    readonly values: readonly Value[];
  }
  | {
    readonly kind: "like";
    readonly column: Column;
    readonly negated: boolean;
    readonly pattern: string;
  }
  | { readonly kind: "null"; readonly column: Column; readonly negated: boolean };
