/** The part of a socket that emits events to the driver. */
export interface Emitter {
  readonly emit: (event: string, ...values: unknown[]) => unknown;
}

/** The part of a socket that the driver calls. */
export interface Closable {
  readonly write: (message: Uint8Array) => boolean;
  readonly end: (message?: Uint8Array) => void;
  readonly destroy: () => void;
}

/** The Postgres at the other end of the sockets. */
export interface SessionOptions<S extends Emitter> {
  /** Sends messages of Postgres's protocol, and gives the answer to all of them. */
  readonly execute: (messages: Uint8Array) => Promise<Uint8Array>;
  /** Makes an event emitter of the runtime. */
  readonly createEmitter: () => S;
}

interface Side<S> {
  readonly socket: S & { readyState: string };
  readonly messages: Uint8Array[];
}

/** The end of an answer after which nothing is open: ready, in no transaction. */
const READY_IDLE = Uint8Array.of(0x5a, 0, 0, 0, 5, 0x49);
const SYNC = Uint8Array.of(0x53, 0, 0, 0, 4);
const ROLLBACK = Uint8Array.of(0x51, 0, 0, 0, 13, ...new TextEncoder().encode("rollback"), 0);
const TERMINATE = 0x58;
const CANCEL_REQUEST = 80877102;

/**
 * Shares one session of Postgres among any number of the driver's sockets, and gives the function that
 * makes them. A socket holds the session from its first message until Postgres is ready again outside
 * a transaction: a message of another socket in between would run in that transaction, or replace a
 * statement that was parsed and not yet bound.
 */
export function shareSession<S extends Emitter>(options: SessionOptions<S>): () => S & Closable {
  let holder: Side<S> | undefined;
  let working = false;
  const waiting: Side<S>[] = [];

  function pass(): void {
    holder = waiting.shift();
    if (holder !== undefined) queueMicrotask(work);
  }

  async function work(): Promise<void> {
    const side = holder;
    if (working || side === undefined) return;
    working = true;
    let idle = false;
    for (let next = side.messages.shift(); next !== undefined; next = side.messages.shift()) {
      try {
        const answer = await options.execute(next);
        idle = endsWith(answer, READY_IDLE);
        if (answer.length > 0 && isOpen(side)) side.socket.emit("data", answer);
      } catch (error) {
        side.socket.emit("error", error);
        close(side);
      }
    }
    if (!isOpen(side) && !idle) await rollBack();
    working = false;
    if (idle || !isOpen(side)) pass();
  }

  /** Ends the transaction of a socket that was closed in the middle of it. */
  async function rollBack(): Promise<void> {
    await options.execute(SYNC).catch(() => {});
    await options.execute(ROLLBACK).catch(() => {});
  }

  function write(side: Side<S>, message: Uint8Array): boolean {
    if (!isOpen(side)) return false;
    if (message[0] === TERMINATE || isCancel(message)) {
      close(side);
      return true;
    }
    // The driver may reuse the buffer.
    side.messages.push(Uint8Array.from(message));
    if (holder === side) queueMicrotask(work);
    else if (!waiting.includes(side)) waiting.push(side);
    if (holder === undefined) pass();
    return true;
  }

  function close(side: Side<S>): void {
    if (!isOpen(side)) return;
    side.socket.readyState = "closed";
    side.messages.length = 0;
    const place = waiting.indexOf(side);
    if (place >= 0) waiting.splice(place, 1);
    if (holder === side) queueMicrotask(work);
    queueMicrotask(() => side.socket.emit("close", false));
  }

  return function connect() {
    const socket = Object.assign(options.createEmitter(), {
      readyState: "open",
      write: (message: Uint8Array) => write(side, message),
      end: (message?: Uint8Array) => {
        if (message !== undefined) write(side, message);
        close(side);
      },
      destroy: () => close(side),
    });
    const side: Side<S> = { socket, messages: [] };
    return socket;
  };
}

function isOpen<S>({ socket }: Side<S>): boolean {
  return socket.readyState === "open";
}

function endsWith(bytes: Uint8Array, tail: Uint8Array): boolean {
  const start = bytes.length - tail.length;
  return start >= 0 && tail.every((byte, index) => bytes[start + index] === byte);
}

/** A statement runs to its end before the next message is read: a cancel request is always too late. */
function isCancel(message: Uint8Array): boolean {
  return message.length === 16 &&
    new DataView(message.buffer, message.byteOffset).getInt32(4) === CANCEL_REQUEST;
}
