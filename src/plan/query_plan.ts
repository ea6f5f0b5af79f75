import type { Column, Table } from "../catalogue/catalogue.ts";
import type { Predicate } from "./predicate.ts";
import type { Scope } from "./scope.ts";

/** A query that can not be refused any more. */
export interface QueryPlan {
  readonly table: Table;
  readonly scope: Scope;
  readonly predicate: Predicate | undefined;
  /** Never empty, no column twice. */
  readonly columns: readonly Column[];
  readonly sort: readonly { readonly column: Column; readonly descending: boolean }[];
  readonly page: number;
  readonly perPage: number;
  /** False on `Prefer: count=none`. */
  readonly count: boolean;
  /** True on `IEEE754Compatible=true`: 64-bit integers and numeric as strings. */
  readonly wideNumbersAsText: boolean;
}
