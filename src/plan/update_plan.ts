import type { Column, Table } from "../catalogue/catalogue.ts";
import type { Predicate, Value } from "./predicate.ts";
import type { Scope } from "./scope.ts";

/** One column's new value; null sets NULL. */
export interface Assignment {
  readonly column: Column;
  readonly value: Value | null;
}

/** An update that can only be refused by the database. */
export interface UpdatePlan {
  readonly table: Table;
  readonly scope: Scope & { readonly kind: "tenant" };
  readonly predicate: Predicate;
  readonly assignments: readonly Assignment[];
  /** From `Prefer: max-affected`. */
  readonly maxAffected: number | undefined;
  /** True on `Prefer: tx=rollback`. */
  readonly rollback: boolean;
}
