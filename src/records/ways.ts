import type { Table } from "../catalogue/catalogue.ts";
import type { Scope } from "./plan/scope.ts";
import { findDatabaseError } from "../database/postgres/database_error.ts";

/**
 * Ways of updating one row. Each asks less of the engine than the one before: a statement by the key;
 * a statement that is pinned to the version of the row; a transaction that locks the row and pins its
 * version. The last resort is a transaction that only locks, which every engine supports. `batch` is
 * a transaction of several pinned updates.
 * @see M18
 */
export type Way = "key" | "pin" | "lock and pin" | "batch" | "read" | `${string} with versions`;

/** Names a way that may read versions, which an engine may refuse though it supports the rest. */
export function nameWay(way: Way, { versionKey }: { readonly versionKey?: unknown }): Way {
  return versionKey === undefined ? way : `${way} with versions`;
}

/** The table and tenant of an update: the rows of one tenant may be on a server of their own. */
export interface WayOptions {
  readonly table: Table;
  readonly scope: Scope;
}

/**
 * SQLSTATE of a statement that Postgres, or an engine behind it, does not support for this table. For
 * example, a table with partitions elsewhere may lack the system columns of a row version. Nothing
 * was written, and the next way may work.
 */
const UNSUPPORTED = "0A000";
/** SQLSTATE that an access method raises at the first row if it lacks the function for an update. */
const INTERNAL = "XX000";

/**
 * Reports whether an engine cannot do this to a row: it does not support the statement, or, if it is
 * not Postgres's own, it failed with an internal error. In Postgres's own heap, an internal error is
 * a fault of the database.
 * @see M24
 */
export function isBeyondEngine(error: unknown, { hasOtherEngine }: Table): boolean {
  const { code, kind } = findDatabaseError(error) ?? {};
  return hasOtherEngine === true && kind !== "raised" &&
    (code === INTERNAL || code === UNSUPPORTED);
}

/** Result of a way that the engine has refused. */
export const REFUSED: unique symbol = Symbol();

/**
 * When each way was last refused, in milliseconds. Entries go with the table, when the catalogue
 * replaces it.
 */
const REFUSALS = new WeakMap<Table, Map<string, number>>();
/** Most refusals that are remembered of a table; beyond that, each way is tried again. */
const MAX_REFUSALS = 1000;
/**
 * Time after which a refused way is tried again: a trigger of the operator may have refused one
 * update alone.
 */
const REMEMBERED_MS = 600_000;

/** Takes a way, and remembers if the engine refuses it, so that the next updates skip it. */
export async function takeWay<T>(
  way: Way,
  { table, scope }: WayOptions,
  attempt: () => Promise<T>,
): Promise<T | typeof REFUSED> {
  const name = `${way} ${scope.tenant}`;
  const refusedMs = REFUSALS.get(table)?.get(name);
  if (refusedMs !== undefined && performance.now() - refusedMs < REMEMBERED_MS) return REFUSED;
  try {
    return await attempt();
  } catch (error) {
    if (!isUnsupported(error, table)) throw error;
    remember(table, name);
    return REFUSED;
  }
}

function isUnsupported(error: unknown, table: Table): boolean {
  const { code, kind } = findDatabaseError(error) ?? {};
  return code === UNSUPPORTED && kind !== "raised" || isBeyondEngine(error, table);
}

function remember(table: Table, name: string): void {
  const refused = REFUSALS.get(table) ?? new Map<string, number>();
  if (refused.size >= MAX_REFUSALS) refused.clear();
  REFUSALS.set(table, refused.set(name, performance.now()));
}
