import type { Recipient } from "./response_body.ts";
import { startDeadline } from "../runtime/timers.ts";
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

/** Produces the text of events; each is requested after the client has read the previous one. */
export type EventSource = AsyncGenerator<string, void, { readonly signal: AbortSignal }>;

const UTF_8 = new TextEncoder();

/**
 * Streams events. The next ones are made after the client has read the previous ones, so nothing
 * piles up for a slow client. A client that reads nothing for too long is cut off. An error becomes
 * the last event.
 * @see CH15, CH16
 */
export function streamEvents(
  source: EventSource,
  recipient: Recipient,
  describeError: (error: unknown) => string,
): ReadableStream<Uint8Array> {
  const { sending, cut, tenant = "" } = recipient;
  const client = new AbortController();
  let release = () => {};
  let endDeadline = () => {};

  function end(): void {
    client.abort();
    endDeadline();
    release();
  }

  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      endDeadline();
      release();
      release = () => {};
      try {
        const { value, done } = await source.next(client);
        if (client.signal.aborted) return;
        if (done) {
          end();
          return controller.close();
        }
        const bytes = UTF_8.encode(value === "" ? ": open\n\n" : value);
        release = sending.unsent.take(bytes.length, tenant) ?? (() => {});
        controller.enqueue(bytes);
        endDeadline = startDeadline({ ms: sending.timeoutMs, late: () => giveUp(controller) });
      } catch (error) {
        if (client.signal.aborted) return;
        controller.enqueue(UTF_8.encode(printError(describeError(error))));
        end();
        controller.close();
      }
    },
    async cancel() {
      end();
      await source.return();
    },
  }, { highWaterMark: 0 });

  function giveUp(controller: ReadableStreamDefaultController): void {
    end();
    sending.late();
    if (cut !== undefined) cut();
    else controller.close();
  }
}

function printError(message: string): string {
  return `event: error\ndata: ${JSON.stringify({ success: false, error: message })}\n\n`;
}
