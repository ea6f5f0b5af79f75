import { ApiError } from "../basics/errors/api_error.ts";
import { startDeadline } from "../server/runtime/timers.ts";
import { checkWhenFree, type CurrentAccess } from "../access/tokens/current_access.ts";
import type { Recipient } from "./response_body.ts";
import { parseHeaderList } from "./header_list.ts";

/** Media type of Server-Sent Events. */
export const EVENT_STREAM = "text/event-stream";

/** Reports whether a client asks for Server-Sent Events. @see CH15 */
export function wantsEvents(accept: string | null): boolean {
  if (accept === null || !/event-stream/i.test(accept)) return false;
  return parseHeaderList(accept).some(({ name, parameters }) =>
    name.toLowerCase() === EVENT_STREAM && Number(parameters.get("q") ?? 1) > 0
  );
}

/**
 * Produces the text of events; each is requested after the client has read the previous one. It holds
 * room for what it has produced.
 */
export type EventSource = AsyncGenerator<string, void, { readonly signal: AbortSignal }>;

const UTF_8 = new TextEncoder();
/** Bytes that a client is given at once. */
const PIECE_BYTES = 65_536;

/** How the errors of a stream are described, and whose it is. */
export interface StreamOptions {
  readonly describe: (error: unknown) => string;
  readonly current: CurrentAccess;
}

/**
 * Streams events. The next ones are made after the client has read the previous ones, so nothing
 * piles up for a slow client. A client that reads nothing for too long is cut off. The token is looked
 * up again before each piece, and the stream ends with it, or when it is changed. Another error becomes
 * the last event.
 * @see CH15, CH16
 */
export function streamEvents(
  source: EventSource,
  recipient: Recipient,
  { describe, current }: StreamOptions,
): ReadableStream<Uint8Array> {
  const { sending, cut, room } = recipient;
  const client = new AbortController();
  let endDeadline = () => {};
  /** What is left of the events that were made last. */
  let rest = new Uint8Array();

  function end(): void {
    client.abort();
    rest = new Uint8Array();
    endDeadline();
    room?.hold(0);
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      endDeadline();
      try {
        const hasMore = rest.length > 0 || await makeEvents();
        await checkWhenFree(current);
        if (client.signal.aborted) return;
        if (!hasMore) {
          end();
          return controller.close();
        }
        // A copy, because a runtime may take the memory of what it is given.
        controller.enqueue(rest.slice(0, PIECE_BYTES));
        rest = rest.subarray(PIECE_BYTES);
        endDeadline = startDeadline({ ms: sending.timeoutMs, late: () => giveUp(controller) });
      } catch (error) {
        if (client.signal.aborted) return;
        if (!isOfToken(error)) controller.enqueue(UTF_8.encode(printError(describe(error))));
        end();
        controller.close();
      }
    },
    async cancel() {
      end();
      await source.return();
    },
  }, { highWaterMark: 0 });

  /** Makes the next events; false at the end. */
  async function makeEvents(): Promise<boolean> {
    rest = new Uint8Array();
    const { value, done } = await source.next(client);
    if (done || client.signal.aborted) return false;
    rest = UTF_8.encode(value === "" ? ": open\n\n" : value);
    return true;
  }

  function giveUp(controller: ReadableStreamDefaultController): void {
    end();
    sending.late();
    if (cut !== undefined) cut();
    else controller.close();
  }
}

/** Reports whether the token has ended or was changed: the client learns more when it asks again. */
function isOfToken(error: unknown): boolean {
  return error instanceof ApiError && error.status === 401;
}

function printError(message: string): string {
  return `event: error\ndata: ${JSON.stringify({ success: false, error: message })}\n\n`;
}
