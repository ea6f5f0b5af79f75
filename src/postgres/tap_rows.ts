import type { DriverSocket } from "./driver.ts";
import { collectMessages } from "./socket.ts";

/**
 * Takes a row as it arrived: the length of each value in four bytes, negative for NULL, and the value. It
 * begins at `start`; the bytes are overwritten later.
 */
export type OnRow = (bytes: Uint8Array, start: number) => void;

/** First byte of a message with a row. */
const DATA_ROW = 0x44;
/** Bytes of a row's message before its values: kind, length, and how many values there are. */
const HEAD_BYTES = 7;

/**
 * Takes the rows out of what a socket gives from now on, before the driver sees them. The driver makes an
 * object for each row and value, which is most of what an export costs: on Node, more than to print it.
 * To be called between two statements, for the rest of the session.
 * @see docs/decisions/0063-export.md
 */
export function tapRows(socket: DriverSocket, onRow: OnRow): void {
  const emit = socket.emit.bind(socket);
  const collect = collectMessages(give);

  function give(messages: Uint8Array): void {
    let passed = 0;
    let at = 0;
    while (at < messages.length) {
      const end = at + 1 + readInt32(messages, at + 1);
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
    if (event !== "data") return emit(event, ...values);
    collect(values[0] as Parameters<typeof collect>[0]);
    return true;
  };
}

/** Reads a number of four bytes, as Postgres sends lengths. */
function readInt32(bytes: Uint8Array, at: number): number {
  return bytes[at]! << 24 | bytes[at + 1]! << 16 | bytes[at + 2]! << 8 | bytes[at + 3]!;
}
