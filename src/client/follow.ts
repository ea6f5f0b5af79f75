import { anyValue, checkOptions, writeNames } from "./check_options.ts";
import { createError, type RowgateError } from "./errors.ts";
import type { FollowEvent, FollowOptions } from "./interface.ts";
import type { AnyRecord } from "./pages.ts";
import { pauseAfter } from "./poll_feed.ts";
import { readParts } from "./read_parts.ts";
import { type OpenClient, openStream } from "./send.ts";

/** The service sends something every 15 s: a stream that is silent for longer is dead. */
const SILENCE_MS = 45_000;

const FOLLOW_OPTIONS = { select: anyValue, since: anyValue, signal: anyValue, onError: anyValue };

/** Creates `follow` of the client: a stream of events, which is opened again whenever it ends. */
export function createFollow(
  client: OpenClient,
  pathOf: (table: string, query: string) => string,
) {
  return async function* follow(
    table: string,
    given: FollowOptions<string> = {},
  ): AsyncGenerator<FollowEvent<AnyRecord>, void, undefined> {
    checkOptions(given, FOLLOW_OPTIONS);
    const { select, since = "start", ...options } = given;
    const { signal } = options;
    const query = new URLSearchParams({ since });
    if (select?.length) query.set("fields", writeNames(select));
    let cursor: string | undefined;
    for (let failures = 0; !signal?.aborted;) {
      let error: RowgateError | undefined;
      try {
        const opened = await openStream(client, {
          ...{ path: pathOf(table, `${query}`), lastEventId: cursor, signal },
          accept: "text/event-stream,application/json",
        });
        if (!opened.success) ({ error } = opened);
        else {
          const reading = { separator: "\n\n", signal, silenceMs: SILENCE_MS };
          for await (const block of readParts(opened.body, reading)) {
            const { id, event, data } = parseEvent(block);
            cursor = id ?? cursor;
            failures = 0;
            if (event === "error") break;
            if (data !== "") yield { type: event, ...JSON.parse(data), ...(id && { cursor: id }) };
          }
        }
      } catch {
        // The stream broke off, and is opened again below.
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

/** Reads an event of Server-Sent Events, as WHATWG defines them. */
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
