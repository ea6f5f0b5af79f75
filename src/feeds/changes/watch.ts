import type { Database } from "../../database/postgres/database.ts";
import { allowsSame } from "../../access/tokens/current_access.ts";
import type { TokenRecord } from "../../access/tokens/token_record.ts";
import { findClear, type Look, lookForAll } from "./look.ts";
import type { Moment } from "./position.ts";
import { isBusy } from "./turns.ts";
import { openWaiters, type Wait, type Waited, type Waiter } from "./waiters.ts";

/** Waits for all clients together, with one statement at a time. */
export interface Watch {
  /**
   * @throws {ApiError} 429 the token has too many waits; 503 the service has
   * @throws {DatabaseError} the database is unavailable
   */
  readonly wait: (wait: Wait) => Promise<Waited>;
  /** Ends every wait, and each new one at once. */
  readonly close: () => void;
}

/** What a watch needs. */
export interface WatchOptions {
  readonly database: Database;
  /** Called with the number of waiting clients when it changes. */
  readonly counted?: (waiting: number) => void;
  /** Called with the records of waiting clients' tokens, as of a time of `performance.now()`. */
  readonly confirmed?: (records: readonly TokenRecord[], atMs: number) => void;
}

/** Time between two looks at the log. */
const LOOK_MS = 200;
/** The same if a client has just arrived. */
const SOON_MS = 125;
/** Every so many looks, tokens are looked up. */
const LOOKS_OF_TOKENS = 10;

/**
 * Opens the watch of a database. While no client waits, it does nothing. A thousand waiting clients
 * cost five statements a second, like one, and one timer.
 * @see CH9
 * @see docs/decisions/0049-cursors-and-feeds.md
 */
export function openWatch(
  { database, counted = () => {}, confirmed = () => {} }: WatchOptions,
): Watch {
  const waiters = openWaiters(counted);
  let moment: Moment | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueMs = Infinity;
  let lookedMs = -Infinity;
  let looking = false;
  let looks = 0;
  let closed = false;

  return { wait, close };

  function wait(options: Wait): Promise<Waited> {
    if (closed) return Promise.resolve({ kind: "changed", position: options.position });
    const waited = waiters.add(options);
    planLook(SOON_MS);
    return waited;
  }

  /** Plans a look at the given time after the last one, unless an earlier one is planned. */
  function planLook(afterMs: number): void {
    if (looking || waiters.count() === 0 || closed) return;
    const nextMs = Math.max(performance.now(), lookedMs + afterMs);
    if (nextMs >= dueMs) return;
    clearTimeout(timer);
    dueMs = nextMs;
    timer = setTimeout(look, Math.max(0, nextMs - performance.now()));
  }

  async function look(): Promise<void> {
    dueMs = Infinity;
    if (waiters.count() === 0) {
      // Changes from now on are not seen, so the next client needs a look of its own.
      moment = undefined;
      return;
    }
    looking = true;
    lookedMs = performance.now();
    const asked = waiters.all();
    const tokens = looks++ % LOOKS_OF_TOKENS === 0 ? waiters.tokens() : [];
    try {
      const found = await lookForAll(database, { waiters: asked, seen: moment, tokens });
      moment = found.moment;
      if (tokens.length > 0) confirmed(found.records, lookedMs);
      for (const waiter of asked) report(waiter, found);
    } catch (error) {
      // A look that was not made has missed nothing, so the clients wait on.
      if (isBusy(error)) return asked.filter(isLate).forEach(settleIdle);
      moment = undefined;
      for (const waiter of asked) waiter.fail(error);
    } finally {
      looking = false;
      planLook(LOOK_MS);
    }
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
    for (const waiter of waiters.all()) settleIdle(waiter);
  }
}

/** Ends the wait of a client for which a look has found something, or whose time is over. */
function report(waiter: Waiter, found: Look): void {
  const { access, position } = waiter;
  if (access !== undefined && found.tokens.has(access.tokenId)) {
    const current = found.tokens.get(access.tokenId);
    if (current === undefined || !allowsSame(access, current)) {
      return waiter.settle({ kind: "ended", access: current });
    }
  }
  const clear = findClear(waiter, found);
  if (clear === undefined) {
    return waiter.settle({ kind: "changed", position: waiter.clear ?? position });
  }
  waiter.clear = clear;
  if (isLate(waiter)) settleIdle(waiter);
}

function isLate({ untilMs }: Waiter): boolean {
  return performance.now() >= untilMs;
}

function settleIdle(waiter: Waiter): void {
  // A position that was never looked at may have changes after it.
  const { clear, position } = waiter;
  if (clear === undefined) waiter.settle({ kind: "changed", position });
  else waiter.settle({ kind: "idle", position: clear });
}
