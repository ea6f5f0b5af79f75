import type { DriverSocket, Sql } from "./driver.ts";
import { optimiseClasses, skipPrepare } from "./driver.ts";

/** One session of Postgres. It breaks as a whole and is never used again after that. */
export interface Backend {
  readonly sql: Sql;
  /** What this session may be asked: both may change while it stands. */
  readonly standby: boolean;
  readonly readOnly: boolean;
  readonly openedMs: number;
  readonly isOpen: () => boolean;
  /** Has one listener called at the end of the session; undefined forgets it. */
  readonly watch: (ended: (() => void) | undefined) => void;
  /** Has Postgres cancel what runs. The session must not be used again: a cancellation may come late. */
  readonly cancel: () => void;
  /** Ends the session with a word to Postgres; what runs is lost. */
  readonly close: () => void;
  readonly destroy: () => void;
  /** What Postgres knows the session by; undefined where a pooler or nothing stands between. */
  readonly identity: BackendIdentity | undefined;
  /** Uses the session no more, though Postgres may still work on it until the promise settles. */
  readonly abandon: (settled: Promise<unknown>) => void;
  /** Settles once Postgres works on it no more; undefined unless the session was abandoned. */
  readonly left: Promise<void> | undefined;
}

/** A backend of Postgres: a process id alone may soon be another's. */
export interface BackendIdentity {
  readonly pid: string;
  /** When it began, as Postgres prints it. */
  readonly started: string;
  /** When its server was started: one of several hosts knows nothing of another's. */
  readonly server: string;
}

/** What a session is opened with. */
export interface BackendOptions {
  readonly openSocket: (signal: AbortSignal) => Promise<DriverSocket>;
  /** Makes a client of the driver for one session, on the socket that is given. */
  readonly openClient: (socket: () => DriverSocket) => Sql;
  /** Milliseconds until it must be ready. */
  readonly limitMs: number;
  /** False for the embedded Postgres, of which no other session can ask. */
  readonly identify: boolean;
}

const CANCEL_MS = 2000;

/**
 * Opens a session: socket, log-in, and one statement that tells what it may be asked. The driver gets
 * the one socket and never another: left alone it would connect again at once and for ever when a
 * server accepts and closes, and would give the last error of one session to the next (3.4.9).
 * @throws {Error} of the driver or of the socket
 * @see D7
 */
export async function openBackend(options: BackendOptions): Promise<Backend> {
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

async function begin(socket: DriverSocket, options: BackendOptions): Promise<Backend> {
  let open = true;
  let left: Promise<void> | undefined;
  let listener: (() => void) | undefined;
  const end = () => {
    if (!open) return;
    open = false;
    // What the driver has to say about its statement comes first.
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
    const query = options.identify
      ? sql<OpeningRow[]>`
        select pg_catalog.pg_is_in_recovery()::text as standby,
          pg_catalog.current_setting('transaction_read_only') as "readOnly",
          pid::text as pid, backend_start::text as started,
          pg_catalog.pg_postmaster_start_time()::text as server
        from pg_catalog.pg_stat_activity where pid = pg_catalog.pg_backend_pid()`
      : sql<OpeningRow[]>`
        select pg_catalog.pg_is_in_recovery()::text as standby,
          pg_catalog.current_setting('transaction_read_only') as "readOnly"`;
    const answer = await skipPrepare(query);
    optimiseClasses(query, answer);
    const [row] = answer;
    // Both null where Postgres sent no key, as the embedded one does not.
    const key: BackendKey = answer.state;
    return {
      sql,
      standby: row?.standby === "true",
      readOnly: row?.readOnly === "on",
      openedMs: performance.now(),
      isOpen: () => open,
      watch(ended) {
        listener = ended;
      },
      cancel: () => void sendCancel(key, options.openSocket),
      close() {
        end();
        socket.end(TERMINATE);
        setTimeout(() => socket.destroy(), CANCEL_MS);
      },
      destroy() {
        end();
        socket.destroy();
      },
      identity: readIdentity(row, key),
      abandon(settled) {
        end();
        const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
        left ??= Promise.race([closed, settled.then(() => void socket.destroy())]);
      },
      get left() {
        return left;
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
}

/** Undefined behind a pooler, whose key is its own and whose session is another's the next moment. */
function readIdentity(row: OpeningRow | undefined, { pid }: BackendKey): Backend["identity"] {
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
 * Asks on a socket of its own, which Postgres closes without an answer. To close it from here would be
 * too early: PgBouncer 1.18 ends with an assertion when a cancel request's socket is half closed.
 */
async function sendCancel(
  { pid, secret }: BackendKey,
  openSocket: BackendOptions["openSocket"],
): Promise<void> {
  // The embedded Postgres has neither.
  if (pid === null || secret === null) return;
  const message = new DataView(new ArrayBuffer(16));
  [16, CANCEL_CODE, pid, secret].forEach((value, index) => message.setInt32(index * 4, value));
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), CANCEL_MS);
  try {
    const socket = await openSocket(controller.signal);
    socket.on("error", () => clearTimeout(timer));
    socket.on("close", () => clearTimeout(timer));
    // A socket that nobody reads from does not hear that its peer has closed it.
    socket.on("data", () => {});
    socket.write(new Uint8Array(message.buffer));
  } catch {
    clearTimeout(timer);
  }
}

function codeError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
