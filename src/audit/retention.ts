import type { Database } from "../postgres/database.ts";
import type { Observe } from "../telemetry/observe.ts";

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

/** Rows that one statement deletes, or a few more that are of the same microsecond. */
export const PRUNE_ROWS = 1000;

/**
 * Deletes the oldest rows of the audit that are older than so many days by the database's clock, at
 * most `PRUNE_ROWS`; gives how many. Deletes none while another instance does, so that nobody waits.
 * @throws {DatabaseError} `permission` when the role may not
 * @see docs/decisions/0140-audit.md
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
