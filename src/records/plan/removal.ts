import type { Cascade, SoftDelete, Table } from "../../catalogue/catalogue.ts";
import type { Scope } from "./scope.ts";

/** How a delete removes its rows. */
export interface Removal {
  /** The column that marks them as deleted; undefined: they are deleted. */
  readonly mark: SoftDelete | undefined;
  /** Rows that Postgres deletes or changes with them, and that may be another tenant's. */
  readonly cascades: readonly Cascade[];
}

const FOR_REMOVAL = new WeakMap<Table, Table>();

/** Plans how rows of a table are removed. */
export function planRemoval({ softDelete, cascades }: Table): Removal {
  if (softDelete !== undefined) return { mark: softDelete, cascades: [] };
  return {
    mark: undefined,
    cascades: (cascades ?? []).filter(({ tenancy }) => tenancy !== undefined),
  };
}

/** Returns a table with what takes part in its deletes, where a table has what takes part in its updates. */
export function asDeletedFrom(table: Table): Table {
  const known = FOR_REMOVAL.get(table);
  if (known !== undefined) return known;
  const { hasRewriteRules, maySkip } = table.deletes;
  const other = table.softDelete === undefined
    ? { ...table, hasRewriteRules, maySkip, rereads: false }
    // The row is locked before it is marked, so that what is returned is what was marked.
    : { ...table, maySkip: true };
  FOR_REMOVAL.set(table, other);
  return other;
}

/** The scope in which a row must be once it is written: marked as deleted, it no longer matches the filter. */
export function scopeAsWritten<Own extends Scope>(
  { scope, removal }: { readonly scope: Own; readonly removal?: Removal | undefined },
): Own {
  if (removal === undefined) return scope;
  const { only: _, ...own } = scope;
  return own as Own;
}
