import type { Database } from "../postgres/database.ts";
import { keepPruning } from "../schema/keep_pruning.ts";
import type { Observe } from "../telemetry/observe.ts";

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
 * @see docs/decisions/0026-audit.md
 */
export function keepRetention(
  database: Database,
  { days, observe, firstMs }: RetentionOptions,
): { readonly close: () => void } {
  return keepPruning({
    prune: () => pruneAudit(database, days),
    most: PRUNE_ROWS,
    pruned: (rows) => observe({ kind: "audit_pruned", rows }),
    failed: () => observe({ kind: "warning", message: describeFailure(days) }),
    firstMs,
  });
}

function describeFailure(days: number): string {
  return `records of rowgate.audit older than ${days} days could not be deleted, trying again in an hour`;
}

/** Records that one statement deletes; a few more if several have the same microsecond. */
export const PRUNE_ROWS = 1000;

/**
 * Deletes the oldest audit records that are older than so many days by the database's clock, at most
 * `PRUNE_ROWS`, and gives their number. While another server deletes, it deletes none, so that neither
 * waits for the other.
 * @throws {DatabaseError} `permission` when the role may not
 * @see docs/decisions/0026-audit.md
 */
export async function pruneAudit(database: Database, days: number): Promise<number> {
  // The lock's number is "audit" in ASCII; it is held until the statement has ended.
  const [row] = await database.run<{ deleted: string }>(
    (sql) =>
      sql`with "$d" as (
          delete from rowgate.audit
          where at <= (select max(old.at) from (select at from rowgate.audit
            where at < now() - ${String(days)}::text::float8 * interval '1 day'
            order by at limit ${String(PRUNE_ROWS)}::text::int8) old)
            and (select pg_catalog.pg_try_advisory_xact_lock(418581342580))
          returning 1
        ) select count(*)::text as deleted from "$d"`,
    { write: true },
  );
  return Number(row?.deleted ?? 0);
}
