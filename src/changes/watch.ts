import { ApiError } from "../errors/api_error.ts";
import { MAX_WAITING, MAX_WAITING_OF_TOKEN } from "../errors/limits.ts";
import { type ChangesPlan, tenantInLog } from "../plan/changes_plan.ts";
import type { Client, Database } from "../postgres/database.ts";
import { compileWatch, type WatchRow } from "../sql/watch_changes.ts";
import { findExpiry } from "./read_changes.ts";
import { type FeedPosition, type Moment, parseMoment, parseShape, snapshotOf } from "./position.ts";

/** A client that waits until there is something new after a position. */
export interface Wait {
  readonly plan: Pick<ChangesPlan, "table" | "scope">;
  /** A position that had nothing after it. */
  readonly position: FeedPosition;
  /** The token of the client. The wait ends if it does; undefined: the service itself waits. */
  readonly tokenId?: string | undefined;
  readonly client?: Client | undefined;
  /** When to stop waiting, by `performance.now()`. */
  readonly untilMs: number;
}

/** How a wait ended. */
export type Waited =
  /** There may be something after this position, so read. */
  | { readonly kind: "changed"; readonly position: FeedPosition }
  /** There was nothing, up to this position. */
  | { readonly kind: "idle"; readonly position: FeedPosition }
  /** The token has ended. */
  | { readonly kind: "ended" }
  /** The client has disconnected. */
  | { readonly kind: "gone" };

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
  /**
   * Called with tokens that were valid at a time of `performance.now()`, and do not expire within 5
   * s.
   */
  readonly confirmed?: (tokenIds: readonly string[], atMs: number) => void;
}

interface Waiter extends Wait {
  readonly key: string;
  readonly settle: (waited: Waited) => void;
  readonly fail: (error: unknown) => void;
  /** The position of the log at the last look that found nothing new; undefined: not looked yet. */
  clear: FeedPosition | undefined;
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
 * @see docs/decisions/0056-changes-feed.md
 */
export function openWatch(
  { database, counted = () => {}, confirmed = () => {} }: WatchOptions,
): Watch {
  const waiters = new Set<Waiter>();
  const ofToken = new Map<string, number>();
  let moment: Moment | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let dueMs = Infinity;
  let lookedMs = -Infinity;
  let looking = false;
  let looks = 0;
  let closed = false;

  return { wait, close };

  function wait(options: Wait): Promise<Waited> {
    const { plan, position, tokenId, client } = options;
    if (closed) return Promise.resolve({ kind: "changed", position });
    const held = tokenId === undefined ? 0 : ofToken.get(tokenId) ?? 0;
    if (held >= MAX_WAITING_OF_TOKEN) throw rejectWaiting(429, "of this token");
    if (waiters.size >= MAX_WAITING) throw rejectWaiting(503, "already");
    return new Promise((resolve, reject) => {
      const leave = () => {
        if (!waiters.delete(waiter)) return false;
        client?.signal.removeEventListener("abort", gone);
        if (tokenId !== undefined) release(tokenId);
        counted(waiters.size);
        return true;
      };
      const gone = () => waiter.settle({ kind: "gone" });
      const waiter: Waiter = {
        ...options,
        key: keyOf(position.feed, tenantInLog(plan.scope)),
        settle: (waited) => leave() && resolve(waited),
        fail: (error) => leave() && reject(error),
        clear: undefined,
      };
      waiters.add(waiter);
      if (tokenId !== undefined) ofToken.set(tokenId, held + 1);
      counted(waiters.size);
      if (client?.signal.aborted) return gone();
      client?.signal.addEventListener("abort", gone);
      planLook(SOON_MS);
    });
  }

  function release(tokenId: string): void {
    const left = (ofToken.get(tokenId) ?? 1) - 1;
    if (left === 0) ofToken.delete(tokenId);
    else ofToken.set(tokenId, left);
  }

  /** Plans a look at the given time after the last one, unless an earlier one is planned. */
  function planLook(afterMs: number): void {
    if (looking || waiters.size === 0 || closed) return;
    const nextMs = Math.max(performance.now(), lookedMs + afterMs);
    if (nextMs >= dueMs) return;
    clearTimeout(timer);
    dueMs = nextMs;
    timer = setTimeout(look, Math.max(0, nextMs - performance.now()));
  }

  async function look(): Promise<void> {
    dueMs = Infinity;
    if (waiters.size === 0) {
      // Changes from now on are not seen, so the next client needs a look of its own.
      moment = undefined;
      return;
    }
    looking = true;
    lookedMs = performance.now();
    const asked = [...waiters];
    const tokens = looks++ % LOOKS_OF_TOKENS === 0 ? [...ofToken.keys()] : [];
    try {
      report(asked, await ask(asked, tokens), tokens);
    } catch (error) {
      moment = undefined;
      for (const waiter of asked) waiter.fail(error);
    } finally {
      looking = false;
      planLook(LOOK_MS);
    }
  }

  async function ask(asked: readonly Waiter[], tokens: readonly string[]): Promise<WatchRow> {
    const tables = new Map(
      asked.map(({ position: { feed }, plan: { table } }) => [feed, table.identifier]),
    );
    const question = {
      seen: moment ?? NOTHING_MISSED,
      feeds: [...tables].map(([feed, table]) => ({ feed, table })),
      arrived: listArrived(asked).map(({ position: { feed, seen, anchor }, plan }) => (
        { feed, tenant: tenantInLog(plan.scope), seen, anchor }
      )),
      tokens,
    };
    const [row] = await database.run<WatchRow & Record<string, string>>(
      (sql) => compileWatch(sql, question) as never,
      { write: false, ofPrimary: true },
    );
    return row!;
  }

  function report(asked: readonly Waiter[], row: WatchRow, tokens: readonly string[]): void {
    moment = parseMoment(row.moment);
    const shapes = new Map(
      (JSON.parse(row.shapes) as [number, unknown][])
        .map((
          [feed, shape],
        ) => [feed, shape === null ? undefined : parseShape(JSON.stringify(shape))]),
    );
    const changed = new Set(
      (JSON.parse(row.changed) as [number, string][]).map(([feed, tenant]) => keyOf(feed, tenant)),
    );
    const arrived = listArrived(asked);
    const behind = new Set((JSON.parse(row.behind) as number[]).map((place) => arrived[place]));
    const ended = new Set(JSON.parse(row.ended) as string[]);
    if (tokens.length > 0) confirmed(JSON.parse(row.lasting) as string[], lookedMs);
    for (const waiter of asked) {
      const { position, plan, key, tokenId, untilMs } = waiter;
      const known = waiter.clear ?? position;
      const shape = shapes.get(position.feed);
      const isNew = behind.has(waiter) || waiter.clear !== undefined && changed.has(key);
      if (tokenId !== undefined && ended.has(tokenId)) waiter.settle({ kind: "ended" });
      else if (
        isNew || moment === undefined || shape === undefined || !shape.complete ||
        findExpiry(known, { feed: plan.table.feed ?? 0, moment, shape, anchored: true }) !==
          undefined
      ) waiter.settle({ kind: "changed", position: known });
      else {
        const { wal, newest } = moment;
        waiter.clear = { ...position, wal, anchor: newest ?? undefined, seen: snapshotOf(moment) };
        if (performance.now() >= untilMs) settleIdle(waiter);
      }
    }
  }

  /** Lists the clients that no look has included yet; all of them after looks failed or paused. */
  function listArrived(asked: readonly Waiter[]): readonly Waiter[] {
    return asked.filter(({ clear }) => clear === undefined);
  }

  function settleIdle(waiter: Waiter): void {
    // A position that was never looked at may have changes after it.
    const { clear, position } = waiter;
    if (clear === undefined) waiter.settle({ kind: "changed", position });
    else waiter.settle({ kind: "idle", position: clear });
  }

  function close(): void {
    closed = true;
    clearTimeout(timer);
    for (const waiter of [...waiters]) settleIdle(waiter);
  }
}

/** A snapshot that has seen everything, for a look when all clients have just arrived. */
const NOTHING_MISSED = { next: "18446744073709551615", running: [] };

function keyOf(feed: number, tenant: string): string {
  return `${feed} ${tenant}`;
}

function rejectWaiting(status: 429 | 503, where: string): ApiError {
  const message = `Too many requests ${where} wait for changes, try again in a second`;
  return new ApiError(status, message, { headers: { "Retry-After": "1" } });
}
