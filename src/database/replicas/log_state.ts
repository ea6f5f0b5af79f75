import type { Database } from "../postgres/database.ts";
import { endOfLog, type LogState, parseTimeline } from "./position.ts";

interface LogRow {
  readonly system: string;
  readonly standby: string;
  readonly started: string;
  readonly file: string | null;
  readonly timeline: string | null;
  readonly at: string | null;
  readonly replayed: string | null;
}

/**
 * Reads the state of a server's log. A standby reports the timeline of its control file, which lags
 * by minutes after a promotion. A role that may see the WAL receiver, such as a member of
 * `pg_monitor`, gets the current one.
 * @throws {DatabaseError}
 */
export async function readLogState(database: Database): Promise<LogState> {
  const [row] = await database.run<LogRow & Record<string, unknown>>(
    (sql) =>
      sql`select c.system_identifier::text as system,
        r.recovering::text as standby,
        pg_catalog.pg_postmaster_start_time()::text as started,
        case when not r.recovering
          then pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()) end as file,
        case when r.recovering then greatest(
          (select timeline_id from pg_catalog.pg_control_checkpoint()),
          (select min_recovery_end_timeline from pg_catalog.pg_control_recovery()),
          (select received_tli from pg_catalog.pg_stat_wal_receiver))::text end as timeline,
        case when not r.recovering then pg_catalog.pg_wal_lsn_diff(
          pg_catalog.pg_current_wal_insert_lsn(), '0/0')::text end as at,
        pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_last_wal_replay_lsn(), '0/0')::text as replayed
      from pg_catalog.pg_control_system() c,
        (select pg_catalog.pg_is_in_recovery() as recovering) r`,
    { write: false },
  );
  const { system, standby, started, file, timeline, at, replayed } = row!;
  const isStandby = standby === "true";
  const replayedBytes = replayed === null ? undefined : BigInt(replayed);
  return {
    system,
    started,
    standby: isStandby,
    timeline: isStandby ? Number(timeline) : parseTimeline(file!),
    bytes: isStandby ? replayedBytes ?? 0n : endOfLog(BigInt(at!)),
    forkedAt: isStandby ? undefined : replayedBytes,
  };
}

/**
 * Makes a question that runs once at a time. All that ask meanwhile share the next one, whose answer
 * is not older than their call.
 */
export function shareQuestions<Answer>(askNow: () => Promise<Answer>): () => Promise<Answer> {
  let running: Promise<Answer> | undefined;
  let next: Promise<Answer> | undefined;

  function ask(): Promise<Answer> {
    if (running === undefined) {
      running = askNow().finally(() => running = undefined);
      return running;
    }
    next ??= running.catch(() => {}).then(() => {
      next = undefined;
      return ask();
    });
    return next;
  }

  return ask;
}
