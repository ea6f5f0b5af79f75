import type { RowgateError } from "./errors.ts";
import type { Changes, PollOptions, TimePlace } from "./interface.ts";
import {
  type AnyQuery,
  type AnyRecord,
  findPrimaryKey,
  isAfter,
  type Reader,
  readPages,
  restrict,
  sortByColumns,
} from "./pages.ts";
import { sleep } from "./send.ts";

const DEFAULT_EVERY_SECONDS = 5;
const DEFAULT_OVERLAP_SECONDS = 60;
const MAX_EVERY_SECONDS = 300;

/**
 * Creates the poller by time and key, for tables without a feed. A transaction that commits
 * late adds rows older than those already yielded, so each round reads the last stretch of time again
 * and skips what was yielded. The stretch starts an overlap before the previous round did: what was
 * not committed by then is no older than the longest transaction.
 */
export function createTimePoll(reader: Reader) {
  return async function* poll(
    table: string,
    request: AnyQuery,
    {
      by,
      from,
      signal,
      everySeconds = DEFAULT_EVERY_SECONDS,
      overlapSeconds = DEFAULT_OVERLAP_SECONDS,
      onError,
    }: PollOptions<string> & { readonly by: string },
  ): AsyncGenerator<Changes<AnyRecord>, void, undefined> {
    const [saved, since]: [Partial<TimePlace>, string?] = typeof from === "string"
      ? [{}, from]
      : [from as TimePlace ?? {}];
    const seen = new Map<string, unknown>(saved.seen);
    let after = saved.after;
    // Nothing older than `from` is ever read.
    let window = saved.window ?? (toMs(since) || -Infinity);
    let key: readonly string[] | undefined;
    let failures = 0;

    function findStart(order: readonly string[]) {
      if (after === undefined) {
        return since ? { field: by, op: "gte", value: since } : { field: by, op: "is_not_null" };
      }
      return toMs(after[by]) > window
        ? { field: by, op: "gte", value: new Date(window).toJSON() }
        : isAfter(order, after);
    }

    async function* readRound() {
      const keys = key ??= await findPrimaryKey(reader, table, { signal });
      const order = [by, ...keys];
      const startedAt = Date.now();
      let requestedAt = 0;
      // By the clock of the service: the client's own may be wrong.
      const onHeaders = (headers: Headers) => {
        const now = Date.now();
        requestedAt ||= (Date.parse(headers.get("date") ?? "") || now) - (now - startedAt);
      };
      const pages = readPages(reader, {
        table,
        request: { ...sortByColumns(request, order), filters: restrict(request, findStart(order)) },
        next: (last) => ({ filters: restrict(request, isAfter(order, last)) }),
        options: { signal, onHeaders },
      });
      for await (const page of pages) {
        failures = 0;
        // Never moves back, since older rows are forgotten. A whole number, like the times.
        window = Math.max(window, Math.floor(requestedAt - overlapSeconds * 1000));
        const records = page.filter((row) => {
          const id = JSON.stringify(keys.map((name) => row[name]));
          const known = seen.get(id) === row[by];
          if (toMs(row[by]) >= window) seen.set(id, row[by]);
          return !known;
        });
        const last = page[page.length - 1];
        if (last) after = Object.fromEntries(order.map((name) => [name, last[name]]));
        if (records.length > 0) {
          yield {
            records,
            deleted: [],
            exact: false,
            place: { after, window, seen: [...seen] },
          };
        }
      }
      for (const [id, time] of seen) if (toMs(time) < window) seen.delete(id);
    }

    while (!signal?.aborted) {
      try {
        yield* readRound();
      } catch (error) {
        if (signal?.aborted) return;
        // Other errors have no status.
        if (!isTemporary((error as RowgateError).status)) throw error;
        failures++;
        onError?.(error as RowgateError);
      }
      const wait = Math.min(everySeconds * 2 ** failures, MAX_EVERY_SECONDS);
      await sleep(wait, signal);
    }
  };
}

/** Whether the next attempt may succeed. */
export function isTemporary(status: number): boolean {
  return [0, 408, 429].includes(status) || status >= 500;
}

/** Parses a time as Postgres prints it, as UTC if it has no zone; NaN if it is not a time. */
function toMs(time: unknown): number {
  if (time === "infinity") return Infinity;
  const text = String(time);
  if (!/^\d+-\d\d-/.test(text)) return NaN;
  return Date.parse(/[zZ]$|[+-][\d:]+$/.test(text) ? text : `${text}Z`);
}
