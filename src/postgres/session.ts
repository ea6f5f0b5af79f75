import type { DriverSocket, PendingQuery, RowList, Sql } from "./driver.ts";
import { optimiseClasses, skipPrepare } from "./driver.ts";
import { classify } from "./database_error.ts";
import type { ServerIdentity } from "./fence.ts";
import type { Pace } from "./pace.ts";
import { type OnRow, type RowFlow, tapRows } from "./tap_rows.ts";
import { type Keeping, settleKeeping } from "./kept_statements.ts";

/** One session of Postgres. Once it is broken it is never used again. */
export interface Session {
  readonly sql: Sql;
  /** Whether the server was a standby when the session was opened; it may change since. */
  readonly standby: boolean;
  /** Whether transactions were read-only when the session was opened; it may change since. */
  readonly readOnly: boolean;
  readonly openedMs: number;
  readonly isOpen: () => boolean;
  /** Sets the one function that is called when the session ends; undefined removes it. */
  readonly watch: (ended: (() => void) | undefined) => void;
  /** Asks Postgres to cancel the running statement; a request that arrives late may hit a later one. */
  readonly cancel: () => void;
  /** False after a cancellation, until {@link awaitCancels} has returned true. */
  readonly isCertain: () => boolean;
  /**
   * Waits until Postgres has handled every cancel request. After that, and after one more answer,
   * none of them can hit a later statement. Returns false if that is unknown: a request was not
   * answered, or a pooler may pass it on later.
   */
  readonly awaitCancels: () => Promise<boolean>;
  /** Streams the rows of all statements from now on, past the driver. */
  readonly takeRows: (onRow: OnRow, pace: Pace) => RowFlow;
  /** Ends the session with a message to Postgres; a running statement is lost. */
  readonly close: () => void;
  /** Closes the socket at once. */
  readonly destroy: () => void;
  /** The backend of the session; undefined behind a pooler and on the embedded Postgres. */
  readonly identity: SessionIdentity | undefined;
  /** The part of the server's connections that was free at the start, 0 to 1; 1 if unknown. */
  readonly free: number;
  /** Abandons the session while Postgres may still work on it, until the promise settles. */
  readonly abandon: (settled: Promise<unknown>) => void;
  /** Settles when Postgres no longer works on it; undefined unless the session was abandoned. */
  readonly released: Promise<void> | undefined;
}

/** A backend of Postgres. Its process id alone is not enough, since ids are reused. */
export interface SessionIdentity {
  readonly pid: string;
  /** When it started, as Postgres prints it. */
  readonly started: string;
  /** When its server started, which distinguishes the backends of several hosts. */
  readonly server: string;
}

/** How a session is opened. */
export interface SessionOptions {
  readonly openSocket: (signal: AbortSignal) => Promise<DriverSocket>;
  /** Makes a client of the driver for one session, on the socket that is given. */
  readonly openClient: (socket: () => DriverSocket) => Sql;
  /** Milliseconds until it must be ready. */
  readonly limitMs: number;
  /** False on the embedded Postgres, which has no other session that could ask about it. */
  readonly identify: boolean;
  /** Returns a code if no session of this server may be used. */
  readonly refuse?: (server: ServerIdentity) => string | undefined;
  /**
   * True: sets the time zone to UTC after the session has read its own. False behind a pooler.
   * @see R50
   */
  readonly setsTimeZone: boolean;
  readonly keeping: Keeping | "unknown";
}

const CANCEL_MS = 2000;
/** Milliseconds until a socket that is closing is destroyed. */
const CLOSE_MS = 2000;

/**
 * Opens a session: a socket, the log-in, and one statement that identifies the server. The driver
 * gets only this socket. By itself, if a server accepts and closes, it would reconnect for ever
 * without a pause, and report the last error of one session in the next (3.4.9).
 * @throws {Error} of the driver or of the socket
 * @see D7
 */
export async function openSession(options: SessionOptions): Promise<Session> {
  const controller = new AbortController();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    controller.abort();
  }, options.limitMs);
  try {
    const socket = await options.openSocket(controller.signal);
    controller.signal.addEventListener("abort", () => socket.destroy());
    return await begin(socket, options);
  } catch (error) {
    throw late ? codeError("CONNECT_TIMEOUT") : error;
  } finally {
    clearTimeout(timer);
  }
}

async function begin(socket: DriverSocket, options: SessionOptions): Promise<Session> {
  let open = true;
  let released: Promise<void> | undefined;
  let listener: (() => void) | undefined;
  const end = () => {
    if (!open) return;
    open = false;
    // The driver reports the failure of its statement first.
    setTimeout(() => listener?.());
  };
  for (const event of ["error", "end", "close"]) socket.on(event, end);
  let given = false;
  const sql = options.openClient(() => {
    if (given) throw codeError("CONNECTION_CLOSED");
    given = true;
    return socket;
  });
  try {
    const answer = await readOpening(sql, options);
    const [row] = answer;
    // Both null where Postgres sent no key, as the embedded one does not.
    const key: BackendKey = answer.state;
    const identity = readIdentity(row, key);
    // Must come before `openedMs` is taken, because older sessions are given up.
    const refusal = options.refuse?.(readServer(row));
    if (refusal !== undefined) throw codeError(refusal);
    if (options.identify && identity === undefined) await settleKeeping(sql, options.keeping);
    /** Whether all cancel requests so far were handled; undefined if there was none. */
    let cancels: Promise<boolean> | undefined;
    return {
      sql,
      standby: row?.standby === "true",
      readOnly: row?.readOnly === "on",
      openedMs: performance.now(),
      isOpen: () => open,
      watch(ended) {
        listener = ended;
      },
      cancel() {
        if (key.pid === null || key.secret === null) return;
        const all = [cancels ?? true, sendCancel(key, options.openSocket)];
        cancels = Promise.all(all).then((handled) => handled.every(Boolean));
      },
      isCertain: () => cancels === undefined,
      async awaitCancels() {
        if (cancels !== undefined && identity === undefined) return false;
        while (cancels !== undefined) {
          const awaited = cancels;
          if (!await awaited) return false;
          if (awaited === cancels) cancels = undefined;
        }
        return true;
      },
      takeRows: (onRow, pace) => tapRows(socket, onRow, pace),
      close() {
        end();
        socket.end(TERMINATE);
        setTimeout(() => socket.destroy(), CLOSE_MS);
      },
      destroy() {
        end();
        socket.destroy();
      },
      identity,
      free: Number(row?.free ?? "1"),
      abandon(settled) {
        end();
        const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
        released ??= Promise.race([closed, settled.then(() => void socket.destroy())]);
      },
      get released() {
        return released;
      },
    };
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** The answer to the statement that opens a session. */
interface OpeningRow {
  readonly standby: string;
  readonly readOnly: string;
  readonly pid?: string;
  readonly started?: string;
  readonly server?: string;
  readonly free?: string;
  readonly system?: string;
  readonly wal?: string | null;
}

/** SQLSTATEs of a server that does not let this role call the functions that identify a primary. */
const NOT_FOR_ALL: ReadonlySet<string> = new Set(["42501", "42883"]);

async function readOpening(
  sql: Sql,
  { identify, setsTimeZone, refuse }: SessionOptions,
): Promise<RowList<OpeningRow[]>> {
  try {
    return await ask(compileOpening(sql, { identify, setsTimeZone, tell: refuse !== undefined }));
  } catch (error) {
    if (!NOT_FOR_ALL.has(classify(error).code)) throw error;
    return await ask(compileOpening(sql, { identify, setsTimeZone, tell: false }));
  }
}

async function ask(query: PendingQuery<OpeningRow[]>): Promise<RowList<OpeningRow[]>> {
  const answer = await skipPrepare(query);
  optimiseClasses(query, answer);
  return answer;
}

function compileOpening(
  sql: Sql,
  { identify, setsTimeZone, tell }: Pick<SessionOptions, "identify" | "setsTimeZone"> & {
    readonly tell: boolean;
  },
): PendingQuery<OpeningRow[]> {
  const server = sql`pg_catalog.pg_is_in_recovery()::text as standby,
    pg_catalog.current_setting('transaction_read_only') as "readOnly"`;
  if (!identify) return sql`select ${server}`;
  const lineage = tell
    ? sql`, (select c.system_identifier::text from pg_catalog.pg_control_system() c) as system,
      case when not pg_catalog.pg_is_in_recovery()
        then pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_lsn()) end as wal`
    : sql``;
  const utc = setsTimeZone ? sql`pg_catalog.set_config('TimeZone', 'UTC', false)` : sql`null`;
  return sql`with "$utc" as materialized (select ${utc} "$set")
    select ${server},
      max(pid) filter (where pid = pg_catalog.pg_backend_pid())::text as pid,
      max(backend_start) filter (where pid = pg_catalog.pg_backend_pid())::text as started,
      pg_catalog.pg_postmaster_start_time()::text as server,
      (1 - count(datid)::float4 / pg_catalog.current_setting('max_connections')::float4)::text
        as free${lineage}
    from pg_catalog.pg_stat_activity cross join "$utc"`;
}

/** Reads what identifies the server. Names of WAL files begin with the timeline, in eight digits. */
function readServer(row: OpeningRow | undefined): ServerIdentity {
  const { system, wal } = row ?? {};
  return {
    system: system ?? undefined,
    timeline: wal == null ? undefined : parseInt(wal.slice(0, 8), 16),
    started: row?.server,
  };
}

/** Reads what identifies the backend; undefined behind a pooler, which has keys of its own. */
function readIdentity(row: OpeningRow | undefined, { pid }: BackendKey): Session["identity"] {
  if (row?.pid === undefined || row.pid !== String(pid)) return undefined;
  return { pid: row.pid, started: row.started!, server: row.server! };
}

interface BackendKey {
  readonly pid: number | null;
  readonly secret: number | null;
}

const TERMINATE = Uint8Array.of(0x58, 0, 0, 0, 4);
const CANCEL_CODE = 80877102;

/**
 * Sends a cancel request on a socket of its own, and returns whether Postgres has handled it.
 * Postgres closes the socket without an answer after it has signalled the backend; libpq waits for
 * that too. The socket is not closed from here, because PgBouncer 1.18 fails an assertion if it is
 * half closed.
 */
async function sendCancel(
  { pid, secret }: BackendKey,
  openSocket: SessionOptions["openSocket"],
): Promise<boolean> {
  const message = new DataView(new ArrayBuffer(16));
  [16, CANCEL_CODE, pid!, secret!].forEach((value, index) => message.setInt32(index * 4, value));
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), CANCEL_MS);
  try {
    const socket = await openSocket(controller.signal);
    return await new Promise<boolean>((resolve) => {
      socket.on("error", () => resolve(false));
      socket.on("close", () => resolve(!controller.signal.aborted));
      // A socket without a reader does not notice that its peer has closed it.
      socket.on("data", () => {});
      socket.write(new Uint8Array(message.buffer));
    });
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}

function codeError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
