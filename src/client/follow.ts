import { createError, type RowgateError } from "./errors.ts";
import type { FollowEvent, FollowOptions } from "./interface.ts";
import type { AnyRecord } from "./pages.ts";
import { pauseAfter } from "./poll_feed.ts";
import { type OpenClient, openStream } from "./send.ts";

/** The service sends something every 15 s: a stream that is silent for longer is dead. */
const SILENCE_MS = 45_000;

/** Creates `follow` of the client: a stream of events, which is opened again whenever it ends. */
export function createFollow(
  client: OpenClient,
  pathOf: (table: string, query: string) => string,
) {
  return async function* follow(
    table: string,
    { select, since = "start", ...options }: FollowOptions<string> = {},
  ): AsyncGenerator<FollowEvent<AnyRecord>, void, undefined> {
    const { signal } = options;
    const query = new URLSearchParams({ since });
    if (select?.length) query.set("fields", select.join());
    let cursor: string | undefined;
    for (let failures = 0; !signal?.aborted;) {
      const ending = new AbortController();
      const end = () => ending.abort();
      signal?.addEventListener("abort", end);
      let error: RowgateError | undefined;
      try {
        const request = { path: pathOf(table, `${query}`), lastEventId: cursor };
        const opened = await openStream(client, {
          ...request,
          accept: "text/event-stream,application/json",
          signal: ending.signal,
        });
        if (!opened.success) ({ error } = opened);
        else {
          for await (const { id, event, data } of readEvents(opened.body, ending)) {
            cursor = id ?? cursor;
            failures = 0;
            if (event === "error") break;
            if (data !== "") yield { type: event, ...JSON.parse(data), ...(id && { cursor: id }) };
          }
        }
      } catch {
        // It broke off, and is opened again below.
      } finally {
        signal?.removeEventListener("abort", end);
        ending.abort();
      }
      if (signal?.aborted) return;
      error ??= createError("The stream ended", { status: 0, attempts: 1 });
      await pauseAfter(error, { ...options, failures: failures++ });
    }
  };
}

/** An event of a stream; comments have no data. */
interface StreamEvent {
  readonly id: string | undefined;
  readonly event: string;
  readonly data: string;
}

/** Reads Server-Sent Events, as WHATWG defines them, until they are ended or nothing comes for too long. */
async function* readEvents(
  body: ReadableStream<Uint8Array>,
  ending: AbortController,
): AsyncGenerator<StreamEvent, void, undefined> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // A `fetch` that is not the runtime's may leave the body open.
  const cancel = () => void reader.cancel().catch(() => {});
  ending.signal.addEventListener("abort", cancel);
  let text = "";
  try {
    for (;;) {
      const timer = setTimeout(() => ending.abort(), SILENCE_MS);
      const { done, value } = await reader.read().finally(() => clearTimeout(timer));
      if (done) return;
      text += decoder.decode(value, { stream: true }).replaceAll("\r", "");
      const blocks = text.split("\n\n");
      text = blocks.pop()!;
      yield* blocks.map(parseEvent);
    }
  } finally {
    cancel();
  }
}

function parseEvent(block: string): StreamEvent {
  let id: string | undefined;
  let event = "message";
  const data: string[] = [];
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(\w+): ?(.*)$/.exec(line) ?? [];
    if (name === "id") id = value;
    else if (name === "event") event = value;
    else if (name === "data") data.push(value);
  }
  return { id, event, data: data.join("\n") };
}
