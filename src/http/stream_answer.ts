import { ApiError } from "../errors/api_error.ts";
import { IS_BUN } from "../runtime/name.ts";
import { afterTurn } from "../runtime/next_tick.ts";
import type { Room } from "./room.ts";

/** How long answers go out to clients that may not read them. */
export interface Sending {
  /** For what is not yet sent. */
  readonly unsent: Room;
  /** For so long a client may take nothing. */
  readonly timeoutMs: number;
  /** Hears that an answer was cut off. */
  readonly late: () => void;
}

/** To whom one answer goes. */
export interface Recipient {
  readonly sending: Sending;
  /** Cuts the connection; undefined where the runtime does so when a body breaks off. */
  readonly cut?: (() => void) | undefined;
  /** Undefined: not known. */
  tenant?: string;
  /** Holds the room that the request has already, in place of room for its answer. */
  hold?: () => () => void;
}

/** Pages of 200 ordinary rows are half as long; they go out at once. */
const LONG = 131_072;
/** Compressed without others waiting. */
const SLICE = 65_536;

/** Tells whether an answer of so many characters or bytes goes out in slices. */
export function isLong(length: number): boolean {
  return length > LONG;
}

/**
 * Gives bytes as a stream, a slice whenever the client has taken those before.
 * @throws {ApiError} 503 when too much is on its way already
 * @see docs/decisions/0206-large-bodies-and-slow-readers.md
 */
export function streamBytes(
  bytes: Uint8Array<ArrayBuffer>,
  recipient: Recipient,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  const { sending, cut, tenant = "", hold } = recipient;
  const leave = hold?.() ?? sending.unsent.take(bytes.length, tenant);
  if (leave === undefined) throw refuseUnsent();
  let at = 0;
  let askedMs = performance.now();
  let timer: ReturnType<typeof setTimeout>;

  function end(): void {
    clearTimeout(timer);
    leave!();
  }

  return new ReadableStream({
    start(controller) {
      timer = setTimeout(look, sending.timeoutMs);

      function look(): void {
        const leftMs = askedMs + sending.timeoutMs - performance.now();
        if (leftMs > 0) timer = setTimeout(look, leftMs);
        else giveUp(controller);
      }
    },
    async pull(controller) {
      askedMs = performance.now();
      // Others have their turn between two slices, however fast the client is.
      if (at > 0) await new Promise<void>((resolve) => afterTurn(resolve));
      controller.enqueue(bytes.slice(at, at += SLICE));
      if (at < bytes.length) return;
      controller.close();
      end();
    },
    cancel: end,
  }, { highWaterMark: 0 });

  function giveUp(controller: ReadableStreamDefaultController): void {
    end();
    sending.late();
    // Node's server would end the answer well, with the error's words in it.
    if (cut !== undefined) cut();
    // Deno's prints the reason, Bun's too, but for one that is undefined.
    else controller.error(IS_BUN ? undefined : "An answer was cut off: its client did not read it");
  }
}

function refuseUnsent(): ApiError {
  const message = "Too many long answers are still being sent, try again in a second";
  return new ApiError(503, message, { headers: { "Retry-After": "1" } });
}
