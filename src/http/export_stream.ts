import { IS_BUN } from "../server/runtime/adapter.ts";
import { holdStop } from "../server/runtime/hold_stop.ts";
import { startDeadline } from "../server/runtime/timers.ts";
import type { Recipient } from "./response_body.ts";

/** The bytes of an export, as a response takes them. */
export interface ExportSource {
  /**
   * Gives what comes next; undefined behind the end. What it throws cuts the response. `spare` was given
   * before, and may be overwritten.
   */
  readonly next: (
    spare?: Uint8Array<ArrayBuffer>,
  ) => Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Ends it early, or at its end. */
  readonly close: (result: ExportResult) => void;
}

/** How an export ended, for logs and metrics. */
export type ExportResult =
  | "complete"
  /** The client disconnected. */
  | "gone"
  /** The client read nothing for too long. */
  | "stalled"
  | "failed";

/**
 * Streams an export: each chunk is asked for when the client has read those before. An export that does
 * not end well is cut off, so that no client takes a part of it for the whole.
 * @see EX6, EX7, EX15
 */
export function streamExport(
  source: ExportSource,
  { cut, sending: { timeoutMs } }: Recipient,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  let isOver = false;
  let endDeadline = () => {};
  const release = holdStop();

  function end(result: ExportResult): void {
    if (isOver) return;
    isOver = true;
    endDeadline();
    release();
    source.close(result);
  }

  return new ReadableStream({
    async pull(controller) {
      endDeadline();
      try {
        const bytes = await source.next();
        if (isOver) return;
        if (bytes === undefined) {
          end("complete");
          return controller.close();
        }
        controller.enqueue(bytes);
        endDeadline = startDeadline({ ms: timeoutMs, late: () => breakOff(controller, "stalled") });
      } catch {
        breakOff(controller, "failed");
      }
    },
    cancel: () => end("gone"),
  }, { highWaterMark: 0 });

  function breakOff(controller: ReadableStreamDefaultController, result: ExportResult): void {
    if (isOver) return;
    end(result);
    // Node's server would end the response as if it were whole, with the text of the error in it.
    if (cut !== undefined) cut();
    // Deno prints the reason; Bun does too, unless it is undefined.
    else controller.error(IS_BUN ? undefined : "An export was cut off");
  }
}

/**
 * Frees each chunk of an export when the next one is asked for, or has its memory used again, where the
 * runtime can do so.
 * @see docs/decisions/0063-export.md
 */
export function freeChunks(source: ExportSource, free: Recipient["free"]): ExportSource {
  if (free === undefined) return source;
  let taken: Uint8Array<ArrayBuffer> | undefined;
  let spare: Uint8Array<ArrayBuffer> | undefined;
  return {
    async next() {
      const chunk = await source.next(spare);
      // Not before: Node asks while a short chunk is still on its way.
      spare = taken !== undefined && free(taken) ? taken : undefined;
      return taken = chunk;
    },
    close: source.close,
  };
}
