import type { DriverSocket } from "./driver.ts";
import type { Pace } from "./pace.ts";
import { collectMessages, openKeeper } from "./socket.ts";

/**
 * Takes a row as it arrived, from `start`: for each value its length in four bytes, negative for
 * NULL, and its bytes. The bytes are overwritten later.
 */
export type OnRow = (bytes: Uint8Array, start: number) => void;

/** The flow of rows from a socket, which can be paused. */
export interface RowFlow {
  /** Stops after the rows of this tick, and stops reading, so that Postgres has to wait. */
  readonly pause: () => void;
  readonly resume: () => void;
}

/** First byte of a message with a row. */
const DATA_ROW = 0x44;
/** Bytes of a row's message before its values: kind, length, and how many values there are. */
const HEAD_BYTES = 7;
const NOTHING = new Uint8Array(0);
/** Events after which nothing is read. */
const ENDS: ReadonlySet<string> = new Set(["end", "error", "close"]);

/**
 * Takes the rows from a socket before the driver sees them, for the rest of the session. Call it
 * between two statements. The driver makes an object for each row and value, which is most of the
 * cost of an export; on Node, it is more than the cost of printing. In each tick, rows are taken as
 * the pace allows, since Node reads from one socket up to 32 times before it turns to others, and Bun
 * reads 512 kB at once.
 * @see EX25, docs/decisions/0063-export.md
 */
export function tapRows(socket: DriverSocket, onRow: OnRow, pace: Pace): RowFlow {
  const emit = socket.emit.bind(socket);
  const collect = collectMessages(give);
  const keep = openKeeper();
  /** Messages that were read and not taken yet. */
  let waiting: Uint8Array | undefined;
  /**
   * Bytes that may still be taken before the pace gives the next tick; undefined: none were taken
   * yet.
   */
  let left: number | undefined;
  let isPaused = false;
  let isReading = true;

  function give(messages: Uint8Array): void {
    const end = waiting === undefined ? take(messages) : 0;
    if (end === messages.length) return;
    // The remaining bytes would be overwritten.
    waiting = keep(waiting ?? NOTHING, messages.subarray(end));
  }

  /** Takes messages until this tick has enough; returns the position where it stopped. */
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

  /** Passes rows to `onRow`, and everything else to the driver. */
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

/** Finds the end of the message that reaches so many bytes, or of the last message. */
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
