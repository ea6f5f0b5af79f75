import type { Database } from "../../database/postgres/database.ts";
import { isUnprepared, keepPruning } from "../../database/schema/keep_pruning.ts";
import type { Observe } from "../../server/telemetry/observe.ts";

/** How long entries of the log are kept, and how often the log is checked. */
export interface ChangesRetentionOptions {
  readonly days: number;
  readonly observe: Observe;
  /** Milliseconds until the first run; random by default, tests pass their own. */
  readonly firstMs?: number;
  /** Milliseconds between two runs; tests pass their own. */
  readonly everyMs?: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

const FIRST_MS = 30_000;
const EVERY_MS = 60_000;
/** Entries that one statement deletes; more if a single transaction wrote them. */
const BATCH = 5000;

/** Measurements of the log. */
interface Measured {
  readonly entries: number;
  readonly oldestSeconds: number;
  /** The oldest running transaction, whose changes may still come. */
  readonly xmin: string;
}

/**
 * Measures the log every minute and deletes old entries in small batches, until it is closed. It does
 * nothing where no table has a feed, or the schema is of an earlier version.
 * @see CH19
 */
export function keepChanges(
  database: Database,
  options: ChangesRetentionOptions,
): { readonly close: () => void } {
  const { days, observe, firstMs = Math.random() * FIRST_MS, everyMs = EVERY_MS } = options;
  const { now = () => performance.now() } = options;
  let oldest: { readonly xmin: string; readonly sinceMs: number } | undefined;

  async function prune(): Promise<number> {
    const deleted = await pruneLog(database, days);
    if (deleted === 0) await measure();
    return deleted;
  }

  /**
   * Measures how long the oldest transaction has been running, since the role may not see other
   * sessions.
   */
  async function measure(): Promise<void> {
    const { entries, oldestSeconds, xmin } = await measureLog(database);
    const atMs = now();
    if (oldest?.xmin !== xmin) oldest = { xmin, sinceMs: atMs };
    const transactionSeconds = (atMs - oldest.sinceMs) / 1000;
    observe({ kind: "changes_log", entries, oldestSeconds, transactionSeconds });
  }

  return keepPruning({
    prune,
    most: 1,
    pruned: (rows) => observe({ kind: "changes_pruned", rows }),
    failed(error) {
      if (!isUnprepared(error)) observe({ kind: "warning", message: FAILURE });
    },
    firstMs,
    everyMs,
  });
}

const FAILURE = "old entries of rowgate.changes could not be deleted, trying again in a minute";

async function pruneLog(database: Database, days: number): Promise<number> {
  const [row] = await database.run<{ deleted: string }>(
    (sql) =>
      sql`select rowgate.prune_changes(${String(days)}::text::float8, ${
        String(BATCH)
      }::text::int4)::text as deleted`,
    { write: true },
  );
  return Number(row?.deleted ?? 0);
}

async function measureLog(database: Database): Promise<Measured> {
  const [row] = await database.run<{ measured: string }>(
    (sql) =>
      sql`select pg_catalog.json_build_object(
          'entries', (select greatest(c.reltuples, 0) from pg_catalog.pg_class c
            where c.oid = 'rowgate.changes'::pg_catalog.regclass),
          'oldestSeconds', coalesce((select extract(epoch from pg_catalog.clock_timestamp() - c.at)
            from rowgate.changes c order by c.xid, c.seq limit 1), 0),
          'xmin', pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text
        )::text as measured`,
    { write: false },
  );
  return JSON.parse(row!.measured);
}
