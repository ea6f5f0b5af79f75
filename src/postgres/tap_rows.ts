import type { DriverSocket } from "./driver.ts";
import type { Pace } from "./pace.ts";
import { collectMessages, openKeeper } from "./socket.ts";

/**
 * Takes a row as it arrived: the length of each value in four bytes, negative for NULL, and the value. It
 * begins at `start`; the bytes are overwritten later.
 */
export type OnRow = (bytes: Uint8Array, start: number) => void;

/** The rows of a socket, which are taken while they are wanted. */
export interface RowFlow {
  /** Takes no more rows than those of this tick, and reads nothing, so that Postgres has to wait. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** First byte of a message with a row. */
const DATA_ROW = 0x44;
/** Bytes of a row's message before its values: kind, length, and how many values there are. */
const HEAD_BYTES = 7;
const NOTHING = new Uint8Array(0);
/** Events behind which nothing is read. */
const ENDS: ReadonlySet<string> = new Set(["end", "error", "close"]);

/**
 * Takes the rows out of what a socket gives from now on, before the driver sees them. The driver makes an
 * object for each row and value, which is most of what an export costs: on Node, more than to print it.
 * In each tick as many are taken as the pace allows, since Node reads from one socket up to 32 times before
 * it looks at the others, and Bun 512 kB at once. To be called between two statements, for the rest of the
 * session.
 * @see EX25, docs/decisions/0069-exports-let-others-pass.md
 */
export function tapRows(socket: DriverSocket, onRow: OnRow, pace: Pace): RowFlow {
  const emit = socket.emit.bind(socket);
  const collect = collectMessages(give);
  const keep = openKeeper();
  /** Messages that were read and not taken. */
  let waiting: Uint8Array | undefined;
  /** Bytes that may be taken until the next tick that the pace gives; undefined: none were. */
  let left: number | undefined;
  let isPaused = false;
  let isReading = true;

  function give(messages: Uint8Array): void {
    const end = waiting === undefined ? take(messages) : 0;
    if (end === messages.length) return;
    // What is left would be overwritten.
    waiting = keep(waiting ?? NOTHING, messages.subarray(end));
  }

  /** Takes messages until this tick has enough of them; gives where it has stopped. */
  function take(messages: Uint8Array): number {
    if (isPaused) return 0;
    if (left === undefined) {
      left = pace.bytes();
      pace.next(beginTick);
    }
    const end = findEnd(messages, left);
    left -= end;
    if (left <= 0) stopReading();
    pass(messages.subarray(0, end));
    return end;
  }

  function beginTick(): void {
    left = undefined;
    goOn();
  }

  function goOn(): void {
    if (waiting !== undefined) {
      const end = take(waiting);
      waiting = end < waiting.length ? waiting.subarray(end) : undefined;
    }
    if (isReading || isPaused || waiting !== undefined || left !== undefined && left <= 0) return;
    isReading = true;
    socket.resume?.();
  }

  function stopReading(): void {
    if (!isReading) return;
    isReading = false;
    socket.pause?.();
  }

  /** Gives each row, and passes all else on to the driver. */
  function pass(messages: Uint8Array): void {
    let passed = 0;
    let at = 0;
    while (at < messages.length) {
      const end = endOf(messages, at);
      if (messages[at] === DATA_ROW) {
        if (passed < at) emit("data", messages.subarray(passed, at));
        onRow(messages, at + HEAD_BYTES);
        passed = end;
      }
      at = end;
    }
    if (passed < at) emit("data", messages.subarray(passed, at));
  }

  socket.emit = (event, ...values) => {
    if (event === "data") {
      collect(values[0] as Parameters<typeof collect>[0]);
      return true;
    }
    if (ENDS.has(event) && waiting !== undefined) {
      const rest = waiting;
      waiting = undefined;
      pass(rest);
    }
    return emit(event, ...values);
  };

  return {
    pause() {
      isPaused = true;
      stopReading();
    },
    resume() {
      isPaused = false;
      goOn();
    },
  };
}

/** Finds the end of the message with which there are so many bytes, or of the last one. */
function findEnd(messages: Uint8Array, bytes: number): number {
  let end = 0;
  while (end < messages.length && end < bytes) end = endOf(messages, end);
  return end;
}

/** Finds the end of the message that begins there. */
function endOf(messages: Uint8Array, at: number): number {
  return at + 1 + readInt32(messages, at + 1);
}

/** Reads a number of four bytes, as Postgres sends lengths. */
function readInt32(bytes: Uint8Array, at: number): number {
  return bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!;
}
