import { type BackendKey, openCancels } from "./cancel_requests.ts";
import type { DriverSocket, Sql } from "./driver.ts";
import type { Failure } from "./database_error.ts";
import { watchFarewell } from "./farewell.ts";
import type { ServerIdentity } from "./fence.ts";
import type { Pace } from "./pace.ts";
import { type OnRow, type RowFlow, tapRows } from "./tap_rows.ts";
import { type Keeping, settleKeeping } from "./pooler.ts";
import {
  readIdentity,
  readOpening,
  readServer,
  type SessionIdentity,
} from "./opening_statement.ts";

/** One session of Postgres. Once it is broken it is never used again. */
export interface Session {
  readonly sql: Sql;
  /** Whether the server was a standby when the session was opened; it may change since. */
  readonly standby: boolean;
  /** Whether transactions were read-only when the session was opened; it may change since. */
  readonly readOnly: boolean;
  readonly openedMs: number;
  readonly isOpen: () => boolean;
  /** Why the server ended the session, if it said so. */
  readonly farewell: () => Failure | undefined;
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
  const farewell = watchFarewell(socket);
  let given = false;
  const sql = options.openClient(() => {
    if (given) throw codeError("CONNECTION_CLOSED");
    given = true;
    return socket;
  });
  try {
    const { identify, openSocket, refuse, setsTimeZone } = options;
    const answer = await readOpening(sql, { identify, setsTimeZone, tell: refuse !== undefined });
    const [row] = answer;
    // Both null where Postgres sent no key, as the embedded one does not.
    const key: BackendKey = answer.state;
    const identity = readIdentity(row, key);
    // Must come before `openedMs` is taken, because older sessions are given up.
    const refusal = refuse?.(readServer(row));
    if (refusal !== undefined) throw codeError(refusal);
    if (identify && identity === undefined) await settleKeeping(sql, options.keeping);
    const cancels = openCancels(key, { openSocket, isIdentified: identity !== undefined });
    return {
      sql,
      standby: row?.standby === "true",
      readOnly: row?.readOnly === "on",
      openedMs: performance.now(),
      isOpen: () => open,
      farewell,
      watch(ended) {
        listener = ended;
      },
      cancel: cancels.send,
      isCertain: cancels.areHandled,
      awaitCancels: cancels.awaitHandled,
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

const TERMINATE = Uint8Array.of(0x58, 0, 0, 0, 4);

function codeError(code: string): Error {
  return Object.assign(new Error(code), { code });
}
