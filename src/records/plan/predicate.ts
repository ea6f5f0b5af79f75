import type { Column } from "../../catalogue/catalogue.ts";
import type { Path } from "../../basics/errors/issue.ts";

/** A value after its check: its text for Postgres, or what was expected instead. */
export type Checked =
  | {
    readonly text: string;
    /** Of a `timestamp` or a list of them: whether it has an offset. Undefined for words such as now. */
    readonly zoned?: boolean;
    /**
     * Of a `timestamptz` or `timetz`, or a list or range of them: true if a part has no zone, and is
     * UTC.
     */
    readonly bare?: boolean;
  }
  | { readonly expected: string };

/** A value for one column, as text that Postgres's input function of `column.cast` takes. */
export interface Value {
  readonly text: string;
  /** False when Postgres may still reject it. */
  readonly certain: boolean;
  /** True when a `timestamp` has an offset, which its input function would drop. */
  readonly zoned?: boolean | undefined;
  /** True when a part of a `timestamptz` or `timetz` has no zone. @see V12 */
  readonly bare?: boolean | undefined;
  /** Where the client wrote it. */
  readonly path: Path;
}

/**
 * Splits values into those without an offset and those with one, because a list has a single cast and
 * values with an offset need another one.
 */
export function splitByZone(values: readonly Value[]): readonly [Value[], Value[]] {
  return [values.filter(({ zoned }) => !zoned), values.filter(({ zoned }) => zoned)];
}

/** Comparison operators. `=` and `<>` need only equality, the others an order. */
export type Comparison = "=" | "<>" | "<" | "<=" | ">" | ">=";

/** A filter whose names are columns and whose values are checked; no value is NULL. */
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
    /** Where the client wrote it. */
    readonly path: Path;
    /** True for `ilike`. */
    readonly ignoresCase?: boolean;
  }
  | { readonly kind: "contains"; readonly column: Column; readonly value: Value }
  | { readonly kind: "null"; readonly column: Column; readonly negated: boolean };
