import type { Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import type { Observe } from "../telemetry/observe.ts";
import { keepPruning } from "./keep_pruning.ts";

/** How long answers are kept under their `Idempotency-Key`. */
export interface AnswersRetentionOptions {
  /** Answers older than this are deleted. */
  readonly hours: number;
  readonly observe: Observe;
  /** Milliseconds until the first run; random by default, tests pass their own. */
  readonly firstMs?: number;
}

/**
 * Deletes old answers every hour, in small batches, until it is closed. Where none can be kept, there are
 * none to delete.
 * @see IK20
 */
export function keepAnswersPruned(
  database: Database,
  { hours, observe, firstMs }: AnswersRetentionOptions,
): { readonly close: () => void } {
  return keepPruning({
    prune: () => pruneAnswers(database, hours),
    most: PRUNED_ANSWERS,
    pruned: (rows) => observe({ kind: "answers_pruned", rows }),
    failed(error) {
      if (error instanceof DatabaseError && UNPREPARED.has(error.kind)) return;
      const message = `answers older than ${hours} hours could not be deleted from ` +
        "rowgate.idempotency_keys, trying again in an hour";
      observe({ kind: "warning", message });
    },
    firstMs,
  });
}

/** A schema of an earlier version, or a role that may not keep answers. */
const UNPREPARED: ReadonlySet<string> = new Set(["permission", "stale"]);

/** Answers that one statement deletes; a few more if several have the same microsecond. */
export const PRUNED_ANSWERS = 1000;

/**
 * Deletes the oldest answers that are older than so many hours by the database's clock, at most
 * `PRUNED_ANSWERS`, and gives their number. While another server deletes, it deletes none, so that neither
 * waits for the other.
 * @throws {DatabaseError} `permission` when the role may not
 */
export async function pruneAnswers(database: Database, hours: number): Promise<number> {
  // The lock's number is "answers" in ASCII; it is held until the statement has ended.
  const [row] = await database.run<{ deleted: string }>(
    (sql) =>
      sql`with "$deleted" as (
          delete from rowgate.idempotency_keys
          where at <= (select max(old.at) from (select at from rowgate.idempotency_keys
            where at < now() - ${String(hours)}::text::float8 * interval '1 hour'
            order by at limit ${String(PRUNED_ANSWERS)}::text::int8) old)
            and (select pg_catalog.pg_try_advisory_xact_lock(27424514944365171))
          returning 1
        ) select count(*)::text as deleted from "$deleted"`,
    { write: true },
  );
  return Number(row?.deleted ?? 0);
}
