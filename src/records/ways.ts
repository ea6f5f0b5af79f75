import type { Table } from "../catalogue/catalogue.ts";
import type { Scope } from "../plan/scope.ts";
import { findDatabaseError } from "../postgres/database_error.ts";

/**
 * Ways of updating one row, each of which asks less of the engine than the one before: a statement by the
 * key, one that is pinned to the version of the row, a transaction that locks the row and pins its
 * version, one that only locks it, which no engine refuses. `batch` is a transaction with several updates
 * that pins.
 * @see M18
 */
export type Way = "key" | "pin" | "lock and pin" | "batch";

/** What a way is taken for: the rows of one tenant may be on a server of their own. */
export interface WayOptions {
  readonly table: Table;
  readonly scope: Scope;
}

/**
 * SQLSTATE of a statement that Postgres or an engine behind it does not support for this table: the
 * system columns of a version, for instance, where a part of it is elsewhere. It has written nothing,
 * and the next way may do.
 */
const UNSUPPORTED = "0A000";
/** What an access method raises that lacks the function for it, when it comes to the row. */
const INTERNAL = "XX000";

/**
 * Reports whether an engine other than Postgres's own has failed with an internal error, or does not
 * support what was asked, which means that it cannot do this to the row. In the heap the former is a
 * fault of the database.
 * @see M24
 */
export function isBeyondEngine(error: unknown, { hasOtherEngine }: Table): boolean {
  const code = findDatabaseError(error)?.code;
  return hasOtherEngine === true && (code === INTERNAL || code === UNSUPPORTED);
}

/** Stands for the result of a way that the engine has refused. */
export const REFUSED: unique symbol = Symbol();

/** When ways were refused, in milliseconds; forgotten with the table. */
const REFUSALS = new WeakMap<Table, Map<string, number>>();
/** Most that are remembered of a table; more tenants try each way again. */
const MAX_REFUSALS = 1000;
/** After so long a way is tried again: a trigger of yours may have refused one update alone. */
const REMEMBERED_MS = 600_000;

/** Takes a way, and remembers when the engine refuses it, so that the next update spares it. */
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
  return findDatabaseError(error)?.code === UNSUPPORTED || isBeyondEngine(error, table);
}

function remember(table: Table, name: string): void {
  const refused = REFUSALS.get(table) ?? new Map<string, number>();
  if (refused.size >= MAX_REFUSALS) refused.clear();
  REFUSALS.set(table, refused.set(name, performance.now()));
}
