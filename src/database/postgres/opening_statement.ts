import { classify } from "./database_error.ts";
import {
  optimiseClasses,
  type PendingQuery,
  type RowList,
  skipPrepare,
  type Sql,
} from "./driver.ts";

/** What a backend is cancelled by; null where Postgres sent none. */
export interface BackendKey {
  readonly pid: number | null;
  readonly secret: number | null;
}

/** How a server identifies itself when a session is opened. */
export interface ServerIdentity {
  /** The system identifier from initdb; undefined if the role may not read it. */
  readonly system: string | undefined;
  /**
   * The timeline of the WAL that it writes, which grows with each promotion. Undefined on a standby.
   */
  readonly timeline: number | undefined;
  /**
   * The timeline of its last checkpoint, on a primary or a standby: some primary has written it.
   * Undefined if the role may not read it.
   */
  readonly checkpoint?: number | undefined;
  /** The time of its start, as it prints it. */
  readonly started?: string | undefined;
}

/** A backend of Postgres. Its process id alone is not enough, since ids are reused. */
export interface SessionIdentity {
  readonly pid: string;
  /** When it started, as Postgres prints it. */
  readonly started: string;
  /** When its server started, which distinguishes the backends of several hosts. */
  readonly server: string;
}

/** The answer to the statement that opens a session. */
export interface OpeningRow {
  readonly standby: string;
  readonly readOnly: string;
  readonly pid?: string;
  readonly started?: string;
  readonly server?: string;
  readonly free?: string;
  readonly system?: string;
  readonly wal?: string | null;
  readonly checkpoint?: string;
}

/** SQLSTATEs of a server that does not let this role call the functions that identify a primary. */
const NOT_FOR_ALL: ReadonlySet<string> = new Set(["42501", "42883"]);

/** What the statement asks and sets. */
export interface OpeningOptions {
  /** Whether it asks which backend it is. */
  readonly identify: boolean;
  /** Whether it asks which database the server holds, and on which timeline. */
  readonly tell: boolean;
  readonly setsTimeZone: boolean;
}

/** Runs the statement that opens a session. @throws {Error} of the driver */
export async function readOpening(
  sql: Sql,
  options: OpeningOptions,
): Promise<RowList<OpeningRow[]>> {
  try {
    return await ask(compileOpening(sql, options));
  } catch (error) {
    if (!NOT_FOR_ALL.has(classify(error).code)) throw error;
    return await ask(compileOpening(sql, { ...options, tell: false }));
  }
}

async function ask(query: PendingQuery<OpeningRow[]>): Promise<RowList<OpeningRow[]>> {
  const answer = await skipPrepare(query);
  optimiseClasses(query, answer);
  return answer;
}

function compileOpening(
  sql: Sql,
  { identify, setsTimeZone, tell }: OpeningOptions,
): PendingQuery<OpeningRow[]> {
  const server = sql`pg_catalog.pg_is_in_recovery()::pg_catalog.text as standby,
    pg_catalog.current_setting('transaction_read_only') as "readOnly"`;
  if (!identify) return sql`select ${server}`;
  const lineage = tell
    ? sql`, (select c.system_identifier::pg_catalog.text from pg_catalog.pg_control_system() c) as system,
      (select c.timeline_id::pg_catalog.text from pg_catalog.pg_control_checkpoint() c) as checkpoint,
      case when not pg_catalog.pg_is_in_recovery()
        then pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()) end as wal`
    : sql``;
  const utc = setsTimeZone ? sql`pg_catalog.set_config('TimeZone', 'UTC', false)` : sql`null`;
  const isOwn = sql`pid operator(pg_catalog.=) pg_catalog.pg_backend_pid()`;
  return sql`with "$utc" as materialized (select ${utc} "$set")
    select ${server},
      pg_catalog.max(pid) filter (where ${isOwn})::pg_catalog.text as pid,
      pg_catalog.max(backend_start) filter (where ${isOwn})::pg_catalog.text as started,
      pg_catalog.pg_postmaster_start_time()::pg_catalog.text as server,
      (1 operator(pg_catalog.-) (pg_catalog.count(datid)::pg_catalog.float4
        operator(pg_catalog./) pg_catalog.current_setting('max_connections')::pg_catalog.float4)
      )::pg_catalog.text as free${lineage}
    from pg_catalog.pg_stat_activity cross join "$utc"`;
}

/** Reads what identifies the server. Names of WAL files begin with the timeline, in eight digits. */
export function readServer(row: OpeningRow | undefined): ServerIdentity {
  const { system, wal, checkpoint } = row ?? {};
  return {
    system: system ?? undefined,
    timeline: wal == null ? undefined : parseInt(wal.slice(0, 8), 16),
    checkpoint: checkpoint === undefined ? undefined : Number(checkpoint),
    started: row?.server,
  };
}

/** Reads what identifies the backend; undefined behind a pooler, which has keys of its own. */
export function readIdentity(
  row: OpeningRow | undefined,
  { pid }: BackendKey,
): SessionIdentity | undefined {
  if (row?.pid === undefined || row.pid !== String(pid)) return undefined;
  return { pid: row.pid, started: row.started!, server: row.server! };
}
