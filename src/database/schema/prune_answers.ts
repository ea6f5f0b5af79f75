import type { Database } from "../postgres/database.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { isUnprepared, keepPruning } from "./keep_pruning.ts";
import { PRUNED_ROWS, pruneOldest } from "./prune_oldest.ts";

/** How long answers are stored under their `Idempotency-Key`. */
export interface AnswersRetentionOptions {
  /** Answers older than this are deleted. */
  readonly hours: number;
  readonly observe: Observe;
  /** Milliseconds until the first run; random by default, tests pass their own. */
  readonly firstMs?: number;
}

/**
 * Deletes old answers every hour, in small batches, until it is closed. If none can be stored, it
 * does nothing.
 * @see IK20
 */
export function keepAnswersPruned(
  database: Database,
  { hours, observe, firstMs }: AnswersRetentionOptions,
): { readonly close: () => void } {
  return keepPruning({
    prune: () => pruneAnswers(database, hours),
    most: PRUNED_ROWS,
    pruned: (rows) => observe({ kind: "answers_pruned", rows }),
    failed(error) {
      if (isUnprepared(error)) return;
      const message = `answers older than ${hours} hours could not be deleted from ` +
        "rowgate.idempotency_keys, trying again in an hour";
      observe({ kind: "warning", message });
    },
    firstMs,
  });
}

/**
 * Deletes the oldest answers that are older than so many hours, and gives their number.
 * @throws {DatabaseError} `permission` when the role may not
 */
export function pruneAnswers(database: Database, hours: number): Promise<number> {
  return pruneOldest(database, {
    name: (sql) => sql`rowgate.idempotency_keys`,
    kept: `${hours} hours`,
    lock: ANSWERS_LOCK,
  });
}

/** "answers" in ASCII. */
const ANSWERS_LOCK = "27424514944365171";
