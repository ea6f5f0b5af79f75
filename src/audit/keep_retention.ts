import type { Database } from "../postgres/database.ts";
import type { Observe } from "../telemetry/observe.ts";
import { PRUNE_ROWS, pruneAudit } from "./prune_audit.ts";

/** What is kept, and who hears of it. */
export interface RetentionOptions {
  /** Rows older than this are deleted. */
  readonly days: number;
  readonly observe: Observe;
  /** Milliseconds until the first look; tests give their own. */
  readonly firstMs?: number;
}

/** Instances that start together look one after the other. */
const FIRST_MS = 60_000;
const EVERY_MS = 3_600_000;
/** Between two statements, so that updates come in between. */
const PAUSE_MS = 200;

/**
 * Deletes what is older than the retention, now and then in small pieces, until it is closed. What
 * goes wrong is observed and tried again at the next look.
 * @see docs/decisions/0140-audit.md
 */
export function keepRetention(
  database: Database,
  { days, observe, firstMs = Math.random() * FIRST_MS }: RetentionOptions,
): { readonly close: () => void } {
  let rows = 0;
  let closed = false;
  let timer = setTimeout(look, firstMs);

  async function look(): Promise<void> {
    let deleted = 0;
    try {
      deleted = await pruneAudit(database, days);
    } catch {
      if (!closed) observe({ kind: "warning", message: describeFailure(days) });
    }
    rows += deleted;
    const goesOn = deleted >= PRUNE_ROWS;
    if (!goesOn && rows > 0) {
      observe({ kind: "audit_pruned", rows });
      rows = 0;
    }
    if (!closed) timer = setTimeout(look, goesOn ? PAUSE_MS : EVERY_MS);
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
  }

  return { close };
}

function describeFailure(days: number): string {
  return `rows of rowgate.audit older than ${days} days could not be deleted; ` +
    "it is tried again in an hour";
}
