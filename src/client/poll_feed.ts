import { createError, type Result, type RowgateError } from "./errors.ts";
import type { CallOptions, Changes, FeedPlace, Key, PollOptions } from "./interface.ts";
import type { AnyQuery, AnyRecord, Reader } from "./pages.ts";
import { createTimePoll, isTemporary } from "./poll.ts";
import { sleep } from "./send.ts";
import { anyValue, checkOptions, writeNames } from "./check_options.ts";
import { writeJson } from "./write_json.ts";

/** How long the service holds a request while nothing changes. */
const WAIT_SECONDS = 25;
const MAX_WAIT_SECONDS = 60;

/** A page of the changes feed. */
export interface FeedPage {
  readonly changes: readonly {
    readonly type: "upsert" | "delete";
    readonly key: Key;
    readonly record: AnyRecord;
  }[];
  readonly cursor: string;
}

/** Reads a page of the feed of a table. */
export type ReadFeed = (
  table: string,
  query: string,
  options: CallOptions,
) => Promise<Result<FeedPage>>;

const REQUEST_PARTS = { filters: anyValue, select: anyValue, per_page: anyValue };
const POLL_OPTIONS = {
  ...{ by: anyValue, from: anyValue, everySeconds: anyValue, overlapSeconds: anyValue },
  ...{ signal: anyValue, onError: anyValue },
};

/** Creates `poll` of the client: by the feed where that is possible, else by time. */
export function createPoll(reader: Reader, readFeed: ReadFeed) {
  const pollByTime = createTimePoll(reader);

  return async function* poll(
    table: string,
    request: AnyQuery,
    options: PollOptions<string>,
  ): AsyncGenerator<Changes<AnyRecord>, void, undefined> {
    checkOptions(request, REQUEST_PARTS);
    checkOptions(options, POLL_OPTIONS);
    writeJson(request);
    const { by } = options;
    if (await hasFeed(table, request, options)) {
      return yield* pollFeed(readFeed, { table, request, options });
    }
    if (options.signal?.aborted) return;
    if (by === undefined) {
      const message = `by: "${table}" is not read by a changes feed, expected a column with a time`;
      throw createError(message, { status: 400, attempts: 0 });
    }
    yield* pollByTime(table, request, { ...options, by });
  };

  /**
   * Reports whether a table is read by its feed, which has neither filters nor times. Waits until the
   * service is available.
   */
  async function hasFeed(
    table: string,
    request: AnyQuery,
    { from, signal, onError }: PollOptions<string>,
  ): Promise<boolean> {
    if (typeof from === "object" && "cursor" in from) return true;
    if (from !== undefined || request.filters !== undefined) return false;
    for (let failures = 1;; failures++) {
      const listed = await reader.listTables({ signal }).catch(() => undefined);
      if (listed === undefined) return false;
      if (listed.success) return listed.tables.some((each) => each.name === table && each.changes);
      await pauseAfter(listed.error, { failures, signal, onError });
    }
  }
}

/** Waits after an error that may pass, and throws any other. */
export async function pauseAfter(
  error: RowgateError,
  { failures, signal, onError }: Pick<PollOptions<string>, "signal" | "onError"> & {
    readonly failures: number;
  },
): Promise<void> {
  if (!isTemporary(error.status)) throw error;
  onError?.(error);
  const seconds = Math.max(error.retryAfter ?? 0, Math.min(2 ** failures / 2, MAX_WAIT_SECONDS));
  await sleep(seconds, signal);
}

async function* pollFeed(
  readFeed: ReadFeed,
  { table, request: { select, per_page }, options }: {
    readonly table: string;
    readonly request: AnyQuery;
    readonly options: PollOptions<string>;
  },
): AsyncGenerator<Changes<AnyRecord>, void, undefined> {
  const { from, signal } = options;
  const query = new URLSearchParams({ wait: String(WAIT_SECONDS) });
  if (select?.length) query.set("fields", writeNames(select));
  if (per_page !== undefined) query.set("limit", String(per_page));
  let cursor = (from as FeedPlace | undefined)?.cursor ?? "start";
  for (let failures = 0; !signal?.aborted;) {
    query.set("since", cursor);
    const page = await readFeed(table, `${query}`, { signal }).catch((error) => {
      if (!signal?.aborted) throw error;
    });
    if (page === undefined) return;
    if (!page.success) {
      await pauseAfter(page.error, { ...options, failures: ++failures });
      continue;
    }
    failures = 0;
    ({ cursor } = page);
    const records = page.changes.flatMap(({ type, record }) => type === "upsert" ? [record] : []);
    const deleted = page.changes.flatMap(({ type, key }) => type === "delete" ? [key] : []);
    if (page.changes.length > 0) yield { records, deleted, exact: true, place: { cursor } };
  }
}
