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
  return new RowTap(socket, onRow, pace);
}

/**
 * The tap of a socket. It is **reading**; **waiting**, when this tick has had enough and the socket is
 * not read until the pace gives the next one; **paused**; or **ended**, when nothing more is read.
 */
class RowTap implements RowFlow {
  readonly #socket: DriverSocket;
  readonly #onRow: OnRow;
  readonly #pace: Pace;
  readonly #emit: DriverSocket["emit"];
  readonly #keep = openKeeper();
  /** Messages that were read and not taken yet. */
  #waiting: Uint8Array | undefined;
  /**
   * Bytes that may still be taken before the pace gives the next tick; undefined: none were taken
   * yet.
   */
  #left: number | undefined;
  #isPaused = false;
  #isReading = true;

  constructor(socket: DriverSocket, onRow: OnRow, pace: Pace) {
    this.#socket = socket;
    this.#onRow = onRow;
    this.#pace = pace;
    this.#emit = socket.emit.bind(socket);
    const collect = collectMessages((messages) => this.#give(messages));
    socket.emit = (event, ...values) => {
      if (event === "data") {
        collect(values[0] as Parameters<typeof collect>[0]);
        return true;
      }
      if (ENDS.has(event)) this.#passRest();
      return this.#emit(event, ...values);
    };
  }

  pause(): void {
    this.#isPaused = true;
    this.#stopReading();
  }

  resume(): void {
    this.#isPaused = false;
    this.#goOn();
  }

  #give(messages: Uint8Array): void {
    const end = this.#waiting === undefined ? this.#take(messages) : 0;
    if (end === messages.length) return;
    // The remaining bytes would be overwritten.
    this.#waiting = this.#keep(this.#waiting ?? NOTHING, messages.subarray(end));
  }

  /** Takes messages until this tick has enough; returns the position where it stopped. */
  #take(messages: Uint8Array): number {
    if (this.#isPaused) return 0;
    if (this.#left === undefined) {
      this.#left = this.#pace.bytes();
      this.#pace.next(() => this.#beginTick());
    }
    const end = findEnd(messages, this.#left);
    this.#left -= end;
    if (this.#left <= 0) this.#stopReading();
    this.#pass(messages.subarray(0, end));
    return end;
  }

  #beginTick(): void {
    this.#left = undefined;
    this.#goOn();
  }

  #goOn(): void {
    if (this.#waiting !== undefined) {
      const waiting = this.#waiting;
      const end = this.#take(waiting);
      this.#waiting = end < waiting.length ? waiting.subarray(end) : undefined;
    }
    const isEnough = this.#left !== undefined && this.#left <= 0;
    if (this.#isReading || this.#isPaused || this.#waiting !== undefined || isEnough) return;
    this.#isReading = true;
    this.#socket.resume?.();
  }

  #stopReading(): void {
    if (!this.#isReading) return;
    this.#isReading = false;
    this.#socket.pause?.();
  }

  #passRest(): void {
    if (this.#waiting === undefined) return;
    const rest = this.#waiting;
    this.#waiting = undefined;
    this.#pass(rest);
  }

  /** Passes rows to `onRow`, and everything else to the driver. */
  #pass(messages: Uint8Array): void {
    let passed = 0;
    let at = 0;
    while (at < messages.length) {
      const end = endOf(messages, at);
      if (messages[at] === DATA_ROW) {
        if (passed < at) this.#emit("data", messages.subarray(passed, at));
        this.#onRow(messages, at + HEAD_BYTES);
        passed = end;
      }
      at = end;
    }
    if (passed < at) this.#emit("data", messages.subarray(passed, at));
  }
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
