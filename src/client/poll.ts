import type { RowgateError } from "./answers.ts";
import type { Changes, Place, PollOptions } from "./interface.ts";
import { isBehind, putInOrder, restrict } from "./keyset.ts";
import { type AnyQuery, type AnyRecord, findKey, type Reader, readOn } from "./reader.ts";
import { sleep } from "./sleep.ts";

const DEFAULT_EVERY_SECONDS = 5;
const DEFAULT_OVERLAP_SECONDS = 60;
const MAX_EVERY_SECONDS = 300;

/**
 * Makes what gives rows that changed, in the order of time and key, for ever. A transaction that
 * commits late brings rows older than those given already, so each round reads the last stretch of
 * time again and leaves out what was given. The stretch begins an overlap before the last round did:
 * what was not committed by then is not older than the longest transaction.
 */
export function createPoll(reader: Reader) {
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
    }: PollOptions<string>,
  ): AsyncGenerator<Changes<AnyRecord>, void, undefined> {
    const [saved, since]: [Partial<Place>, string?] = typeof from === "string"
      ? [{}, from]
      : [from ?? {}];
    const seen = new Map<string, unknown>(saved.seen);
    let after = saved.after;
    // Nothing older than `from` is ever asked for.
    let window = saved.window ?? (toMs(since) || -Infinity);
    let key: readonly string[] | undefined;
    let failures = 0;

    function findStart(order: readonly string[]) {
      if (after === undefined) {
        return since ? { field: by, op: "gte", value: since } : { field: by, op: "is_not_null" };
      }
      return toMs(after[by]) > window
        ? { field: by, op: "gte", value: new Date(window).toJSON() }
        : isBehind(order, after);
    }

    async function* readRound() {
      const keys = key ??= await findKey(reader, table, { signal });
      const order = [by, ...keys];
      const began = Date.now();
      let askedAt = 0;
      // By the service's clock: the client's own may be wrong.
      const onHeaders = (headers: Headers) => {
        const now = Date.now();
        askedAt ||= (Date.parse(headers.get("date") ?? "") || now) - (now - began);
      };
      const pages = readOn(reader, {
        table,
        request: { ...putInOrder(request, order), filters: restrict(request, findStart(order)) },
        next: (last) => ({ filters: restrict(request, isBehind(order, last)) }),
        options: { signal, onHeaders },
      });
      for await (const page of pages) {
        failures = 0;
        // Never back: what is older is not remembered any more. Whole, as the times are.
        window = Math.max(window, Math.floor(askedAt - overlapSeconds * 1000));
        const records = page.filter((row) => {
          const id = JSON.stringify(keys.map((name) => row[name]));
          const known = seen.get(id) === row[by];
          if (toMs(row[by]) >= window) seen.set(id, row[by]);
          return !known;
        });
        const last = page[page.length - 1];
        if (last) after = Object.fromEntries(order.map((name) => [name, last[name]]));
        if (records.length > 0) yield { records, place: { after, window, seen: [...seen] } };
      }
      for (const [id, time] of seen) if (toMs(time) < window) seen.delete(id);
    }

    while (!signal?.aborted) {
      try {
        yield* readRound();
      } catch (error) {
        if (signal?.aborted) return;
        // What is no error of the client has no status.
        if (!isPassing((error as RowgateError).status)) throw error;
        failures++;
        onError?.(error as RowgateError);
      }
      const wait = Math.min(everySeconds * 2 ** failures, MAX_EVERY_SECONDS);
      await sleep(wait, signal).catch(() => {});
    }
  };
}

/** What may be over at the next try. */
function isPassing(status: number): boolean {
  return [0, 408, 429].includes(status) || status >= 500;
}

/** Reads a time as Postgres prints it, without a zone as UTC; NaN for what is none. */
function toMs(time: unknown): number {
  if (time === "infinity") return Infinity;
  const text = String(time);
  if (!/^\d+-\d\d-/.test(text)) return NaN;
  return Date.parse(/[zZ]$|[+-][\d:]+$/.test(text) ? text : `${text}Z`);
}
