import { classify, type Failure } from "./database_error.ts";
import type { DriverSocket, Sql } from "./driver.ts";
import {
  type BackendKey,
  readIdentity,
  readOpening,
  readServer,
  type ServerIdentity,
  type SessionIdentity,
} from "./opening_statement.ts";
import type { Pace } from "./pace.ts";
import { type Keeping, settleKeeping } from "./pooler.ts";
import { type OnRow, type RowFlow, tapRows } from "./tap_rows.ts";

type OpenSocket = (signal: AbortSignal) => Promise<DriverSocket>;

/** How a session is opened. */
export interface SessionOptions {
  readonly openSocket: OpenSocket;
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

/** What the statement that opens a session has found. */
interface Found {
  readonly sql: Sql;
  readonly standby: boolean;
  readonly readOnly: boolean;
  readonly identity: SessionIdentity | undefined;
  readonly free: number;
  readonly key: BackendKey;
}

/** Milliseconds until a socket that is closing is destroyed. */
const CLOSE_MS = 2000;
const TERMINATE = Uint8Array.of(0x58, 0, 0, 0, 4);

/** A socket, and what it has shown before the session on it is ready. */
class SessionSocket {
  readonly socket: DriverSocket;
  isOpen = true;
  /** Why the server ended the session, if it said so. */
  farewell: Failure | undefined;
  /** Called when the session ends. */
  listener: (() => void) | undefined;

  constructor(socket: DriverSocket) {
    this.socket = socket;
    for (const event of ["error", "end", "close"]) socket.on(event, () => this.end());
    // The driver drops the reason when no statement is running, as at the limit of an idle transaction.
    socket.on("data", (value) => this.farewell = readFarewell(value) ?? this.farewell);
  }

  end(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    // The driver reports the failure of its statement first.
    setTimeout(() => this.listener?.());
  }
}

/**
 * One session of Postgres. It is **open**, and then **ended**: closed, destroyed, broken, or
 * **abandoned**, when Postgres may still work on its statement until it is released. Once it has
 * ended it is never used again. While it is open, a cancel request makes it **uncertain** for a time:
 * a request that arrives late may hit a later statement.
 */
export class Session {
  readonly sql: Sql;
  /** Whether the server was a standby when the session was opened; it may change since. */
  readonly standby: boolean;
  /** Whether transactions were read-only when the session was opened; it may change since. */
  readonly readOnly: boolean;
  /** The backend of the session; undefined behind a pooler and on the embedded Postgres. */
  readonly identity: SessionIdentity | undefined;
  /** The part of the server's connections that was free at the start, 0 to 1; 1 if unknown. */
  readonly free: number;
  readonly openedMs = performance.now();
  readonly #socket: SessionSocket;
  readonly #key: BackendKey;
  readonly #openSocket: OpenSocket;
  /** Whether all cancel requests so far were handled; undefined if there was none. */
  #handled: Promise<boolean> | undefined;
  #released: Promise<void> | undefined;

  constructor(socket: SessionSocket, openSocket: OpenSocket, found: Found) {
    this.#socket = socket;
    this.#openSocket = openSocket;
    this.#key = found.key;
    this.sql = found.sql;
    this.standby = found.standby;
    this.readOnly = found.readOnly;
    this.identity = found.identity;
    this.free = found.free;
  }

  /** Settles when Postgres no longer works on it; undefined unless the session was abandoned. */
  get released(): Promise<void> | undefined {
    return this.#released;
  }

  isOpen(): boolean {
    return this.#socket.isOpen;
  }

  /** Why the server ended the session, if it said so. */
  farewell(): Failure | undefined {
    return this.#socket.farewell;
  }

  /** Sets the one function that is called when the session ends; undefined removes it. */
  watch(ended: (() => void) | undefined): void {
    this.#socket.listener = ended;
  }

  /** Streams the rows of all statements from now on, past the driver. */
  takeRows(onRow: OnRow, pace: Pace): RowFlow {
    return tapRows(this.#socket.socket, onRow, pace);
  }

  /** Asks Postgres to cancel the running statement, unless it gave no key. */
  cancel(): void {
    const { pid, secret } = this.#key;
    if (pid === null || secret === null) return;
    const all = [this.#handled ?? true, sendCancel(pid, secret, this.#openSocket)];
    this.#handled = Promise.all(all).then((each) => each.every(Boolean));
  }

  /** False after a cancellation, until {@link awaitCancels} has returned true. */
  isCertain(): boolean {
    return this.#handled === undefined;
  }

  /**
   * Waits until Postgres has handled every cancel request. After that, and after one more answer,
   * none of them can hit a later statement. Returns false if that is unknown: a request was not
   * answered, or a pooler may pass it on later.
   */
  async awaitCancels(): Promise<boolean> {
    if (this.#handled !== undefined && this.identity === undefined) return false;
    while (this.#handled !== undefined) {
      const awaited = this.#handled;
      if (!await awaited) return false;
      if (awaited === this.#handled) this.#handled = undefined;
    }
    return true;
  }

  /** Ends the session with a message to Postgres; a running statement is lost. */
  close(): void {
    const { socket } = this.#socket;
    this.#socket.end();
    socket.end(TERMINATE);
    setTimeout(() => socket.destroy(), CLOSE_MS);
  }

  /** Closes the socket at once. */
  destroy(): void {
    this.#socket.end();
    this.#socket.socket.destroy();
  }

  /** Abandons the session while Postgres may still work on it, until the promise settles. */
  abandon(settled: Promise<unknown>): void {
    const { socket } = this.#socket;
    this.#socket.end();
    const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
    this.#released ??= Promise.race([closed, settled.then(() => void socket.destroy())]);
  }
}

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
  const { identify, openSocket, refuse, setsTimeZone } = options;
  const watched = new SessionSocket(socket);
  let given = false;
  const sql = options.openClient(() => {
    if (given) throw codeError("CONNECTION_CLOSED");
    given = true;
    return socket;
  });
  try {
    const answer = await readOpening(sql, { identify, setsTimeZone, tell: refuse !== undefined });
    const [row] = answer;
    // Both null where Postgres sent no key, as the embedded one does not.
    const key: BackendKey = answer.state;
    const identity = readIdentity(row, key);
    // Must come before `openedMs` is taken, because older sessions are given up.
    const refusal = refuse?.(readServer(row));
    if (refusal !== undefined) throw codeError(refusal);
    if (identify && identity === undefined) await settleKeeping(sql, options.keeping);
    return new Session(watched, openSocket, {
      sql,
      key,
      identity,
      standby: row?.standby === "true",
      readOnly: row?.readOnly === "on",
      free: Number(row?.free ?? "1"),
    });
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** First byte of a message with an error. */
const ERROR = 0x45;
/** Bytes of such a message before its fields: kind and length. */
const HEAD_BYTES = 5;

/**
 * Reads an error that ends its session from what a socket gives; it takes one comparison for any other
 * bytes. Each field of an error is a letter and a text that ends with 0.
 */
function readFarewell(value: unknown): Failure | undefined {
  if (!(value instanceof Uint8Array) || value[0] !== ERROR) return undefined;
  const fields = new TextDecoder().decode(value.subarray(HEAD_BYTES)).split("\0");
  const find = (letter: string) => fields.find((field) => field.startsWith(letter))?.slice(1);
  const failure = classify({ severity: find("V") ?? find("S") ?? "", code: find("C") ?? "" });
  return failure.endsSession ? failure : undefined;
}

const CANCEL_MS = 2000;
const CANCEL_CODE = 80877102;

/**
 * Sends a cancel request on a socket of its own, and returns whether Postgres has handled it.
 * Postgres closes the socket without an answer after it has signalled the backend; libpq waits for
 * that too. The socket is not closed from here, because PgBouncer 1.18 fails an assertion if it is
 * half closed.
 */
async function sendCancel(
  pid: number,
  secret: number,
  openSocket: OpenSocket,
): Promise<boolean> {
  const message = new DataView(new ArrayBuffer(16));
  [16, CANCEL_CODE, pid, secret].forEach((value, index) => message.setInt32(index * 4, value));
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
