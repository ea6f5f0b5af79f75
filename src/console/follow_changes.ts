import { parseResponse } from "../describe/reference/exact_json.ts";
import type { Row } from "./api.ts";

/** A change of a row, as a changes feed reports it. @see CH8 */
export interface Change {
  readonly type: "upsert" | "delete";
  readonly key: Row;
  /** The row as it is now; null when it was deleted. */
  readonly record: Row | null;
}

/** What happens while a feed is followed. */
export type FeedEvent =
  | { readonly kind: "opened" }
  | { readonly kind: "change"; readonly change: Change }
  /** All committed changes have been reported. */
  | { readonly kind: "caught_up" }
  /** The stream ended and is opened again. */
  | { readonly kind: "lost"; readonly reason: string }
  /** The stream cannot be opened; the last event. */
  | { readonly kind: "failed"; readonly status: number; readonly error: string };

/** Which feed is followed. */
export interface FollowOptions {
  readonly token: string;
  readonly url: URL;
  readonly signal: AbortSignal;
  /** Waits before the stream is opened again. */
  readonly pause?: (ms: number) => Promise<unknown>;
}

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 15_000;
/** The service is busy or starts again; any other status is final. */
const PASSING: ReadonlySet<number> = new Set([0, 429, 502, 503, 504]);

/**
 * Follows a changes feed until the signal ends it, and continues after a stream breaks. An
 * `EventSource` would do that by itself, but cannot send a token.
 * @see CH15
 */
export async function* followTable(
  { token, url, signal, pause = sleep }: FollowOptions,
): AsyncGenerator<FeedEvent> {
  let cursor: string | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  while (!signal.aborted) {
    let reason = "The stream ended";
    try {
      const response = await fetch(url, {
        headers: {
          accept: "text/event-stream, application/json;IEEE754Compatible=true",
          authorization: `Bearer ${token}`,
          ...(cursor !== undefined && { "last-event-id": cursor }),
        },
        cache: "no-store",
        credentials: "omit",
        referrerPolicy: "no-referrer",
        signal,
      });
      if (!response.ok) {
        const { error = `Status ${response.status}` } = await response.json();
        if (!PASSING.has(response.status)) {
          yield { kind: "failed", status: response.status, error };
          return;
        }
        reason = error;
      } else {
        yield { kind: "opened" };
        for await (const { id, event, data } of readEvents(response.body!)) {
          if (id !== undefined) cursor = id;
          pauseMs = FIRST_PAUSE_MS;
          if (event === "caught_up") yield { kind: "caught_up" };
          else if (event === "error") reason = JSON.parse(data).error;
          else if (data !== "") yield { kind: "change", change: parseResponse<Change>(data) };
        }
      }
    } catch (error) {
      reason = error instanceof Error ? error.message : String(error);
    }
    if (signal.aborted) return;
    yield { kind: "lost", reason };
    await pause(pauseMs);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

function sleep(ms: number): Promise<unknown> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** An event of a stream; one without data only moves the cursor. */
interface StreamedEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Reads Server-Sent Events. An event that the end of the stream cuts off is dropped. */
export async function* readEvents(
  body: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<StreamedEvent> {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      const blocks = (text + value).split("\n\n");
      text = blocks.pop()!;
      for (const block of blocks) yield parseEvent(block);
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

function parseEvent(block: string): StreamedEvent {
  let id: string | undefined;
  let event = "";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === "id") id = value;
    else if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  return { id, event, data: data.join("\n") };
}
