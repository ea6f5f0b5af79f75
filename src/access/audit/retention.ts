import type { Database } from "../../database/postgres/database.ts";
import { keepPruning } from "../../database/schema/keep_pruning.ts";
import { PRUNED_ROWS, pruneOldest } from "../../database/schema/prune_oldest.ts";
import type { Observe } from "../../server/telemetry/observe.ts";

/** How long records are kept. */
export interface RetentionOptions {
  /** Records older than this are deleted. */
  readonly days: number;
  readonly observe: Observe;
  /** Milliseconds until the first run; random by default, tests pass their own. */
  readonly firstMs?: number;
}

/**
 * Deletes old audit records every hour, in small batches, until it is closed. A failure is observed,
 * and the next run tries again.
 * @see docs/decisions/0026-audit-and-kept-answers.md
 */
export function keepRetention(
  database: Database,
  { days, observe, firstMs }: RetentionOptions,
): { readonly close: () => void } {
  return keepPruning({
    prune: () => pruneAudit(database, days),
    most: PRUNED_ROWS,
    pruned: (rows) => observe({ kind: "audit_pruned", rows }),
    failed: () => observe({ kind: "warning", message: describeFailure(days) }),
    firstMs,
  });
}

function describeFailure(days: number): string {
  return `records of rowgate.audit older than ${days} days could not be deleted, trying again in an hour`;
}

/**
 * Deletes the oldest audit records that are older than so many days, and gives their number.
 * @throws {DatabaseError} `permission` when the role may not
 * @see docs/decisions/0026-audit-and-kept-answers.md
 */
export function pruneAudit(database: Database, days: number): Promise<number> {
  return pruneOldest(database, {
    name: (sql) => sql`rowgate.audit`,
    kept: `${days} days`,
    lock: AUDIT_LOCK,
  });
}

/** "audit" in ASCII. */
const AUDIT_LOCK = "418581342580";
