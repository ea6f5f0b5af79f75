import type { Observe } from "../telemetry/observe.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import { type BucketOptions, describeDraw, type Draw, holdsOne } from "./buckets.ts";
import { openLeaseQueue } from "./lease_queue.ts";
import { type Lease, type LeaseQuestion, PRUNED_BUCKETS, type RateLeases } from "./rate_leases.ts";

/** Token buckets that all instances draw from. */
export interface SharedBuckets {
  /** Takes one from the key's bucket: from its lease at once, otherwise after requesting one. */
  readonly draw: (key: string) => Draw | Promise<Draw>;
  /** Returns the leases. */
  readonly close: () => Promise<void>;
}

/** How buckets are shared. */
export interface SharedBucketsOptions extends BucketOptions {
  readonly leases: RateLeases;
  readonly observe: Observe;
}

/** The part of a key's bucket that this process holds. */
interface Holding {
  /** Leased and not used. */
  held: number;
  /** What was left for all instances, at `atMs`. */
  level: number;
  atMs: number;
  usedMs: number;
  /** Until then, nothing is left for any instance. */
  emptyUntilMs: number;
  /** Used without a lease, and not reported yet. */
  owed: number;
  /** Requests that wait for a lease. */
  waiting: number;
  /** The pending request for a lease; it never rejects. */
  asking: Promise<void> | undefined;
}

/** A lease is this part of the limit, or the inflow of so many seconds, whichever is more. */
const LEASE_PART = 1 / 20;
const LEASE_SECONDS = 0.25;
/** Smaller leases are not renewed in advance, since the other instances lack what one of them holds. */
const MIN_AHEAD = 4;
/** How long a request waits for a lease before it takes the share of this process. */
const WAIT_MS = 500;
/** Least time between two requests for a key of which nothing is left. */
const EMPTY_MS = 50;
/** Time until the database is asked again, after a failure or if the role or the schema forbids it. */
const AGAIN_MS = 1000;
const FORBIDDEN_MS = 60_000;
/** A lease that is not used for this long is returned. */
const IDLE_MS = 10_000;
const SWEEP_MS = 5000;
/** Sweeps between two counts of the processes, and between two deletions of full buckets. */
const SWEEPS_OF_MEMBERS = 2;
const SWEEPS_OF_PRUNING = 12;

/**
 * Opens buckets that the database keeps for all instances. Each instance leases a small part and
 * spends it without asking again. A lease costs one row in a statement, and the keys share one
 * statement at a time. While the database is unavailable, each instance admits its share of the
 * limit.
 * @see M21, M22
 */
export function openSharedBuckets(
  { capacity, windowSeconds, size, now, leases, observe }: SharedBucketsOptions,
): SharedBuckets {
  const perMs = capacity / (windowSeconds * 1000);
  const leaseSize = Math.ceil(Math.max(capacity * LEASE_PART, perMs * 1000 * LEASE_SECONDS));
  const kept = new Map<string, Holding>();
  const queue = openLeaseQueue({ leases, now, receive, answered, failed });
  let members = 1;
  let sweeps = 0;
  /** Undefined: leases are available. */
  let unavailableUntilMs: number | undefined;
  const timer = setInterval(sweep, SWEEP_MS);
  void meet(false);

  function draw(key: string): Draw | Promise<Draw> {
    const holding = touch(key);
    if (holding.held >= 1) {
      const drawn = take(holding);
      if (isRunningOut(holding)) void ask(key, holding);
      return drawn;
    }
    return drawWithoutLease(key, holding);
  }

  async function drawWithoutLease(key: string, holding: Holding): Promise<Draw> {
    const endMs = now() + WAIT_MS;
    for (;;) {
      if (holding.held >= 1) return take(holding);
      if (unavailableUntilMs !== undefined) {
        if (now() >= unavailableUntilMs) void ask(key, holding);
        return drawShare(holding);
      }
      const nowMs = now();
      if (nowMs < holding.emptyUntilMs) return describe(holding, false);
      if (nowMs >= endMs) return drawShare(holding);
      holding.waiting++;
      await within(ask(key, holding), endMs - nowMs);
      holding.waiting--;
    }
  }

  function touch(key: string): Holding {
    const found = kept.get(key);
    const atMs = now();
    const holding = found ?? {
      ...{ held: 0, level: capacity, atMs, usedMs: atMs },
      ...{ emptyUntilMs: -Infinity, owed: 0, waiting: 0, asking: undefined },
    };
    holding.usedMs = atMs;
    kept.delete(key);
    kept.set(key, holding);
    if (kept.size > size) forget(kept.keys().next().value!);
    return holding;
  }

  function take(holding: Holding): Draw {
    holding.held--;
    return describe(holding, true);
  }

  /** What is left for all, as far as this process knows. */
  function levelOf({ level, atMs }: Holding): number {
    return Math.min(capacity, level + (now() - atMs) * perMs);
  }

  function describe(holding: Holding, granted: boolean): Draw {
    return describeDraw(granted, Math.min(capacity, levelOf(holding) + holding.held), perMs);
  }

  /** Takes one from this process's share of what was left when that was last known. */
  function drawShare(holding: Holding): Draw {
    const share = Math.max(1, Math.floor(capacity / members));
    const part = share / capacity;
    const granted = holdsOne(levelOf(holding) * part);
    if (granted) {
      holding.level = Math.max(0, levelOf(holding) - 1 / part);
      holding.atMs = now();
      holding.owed = Math.min(capacity, holding.owed + 1);
    }
    return { share, ...describeDraw(granted, levelOf(holding) * part, perMs * part) };
  }

  /**
   * Reports whether to request the next lease in advance. Not if so little is left that others would
   * lack it.
   */
  function isRunningOut({ held, level, asking }: Holding): boolean {
    return held < leaseSize / 2 && leaseSize >= MIN_AHEAD && level >= leaseSize &&
      asking === undefined && unavailableUntilMs === undefined;
  }

  /** Requests a lease, together with those of other keys; settles when it has arrived or failed. */
  function ask(key: string, holding: Holding): Promise<void> {
    holding.asking ??= queue.ask({
      id: key,
      want: Math.max(1, Math.min(capacity, leaseSize + holding.waiting)),
      back: -holding.owed,
    }).finally(() => holding.asking = undefined);
    return holding.asking;
  }

  function receive({ id, granted, level }: Lease, { want, back }: LeaseQuestion, sentMs: number) {
    const holding = kept.get(id);
    // The key was forgotten meanwhile: what it was granted is lost until it flows in again.
    if (holding === undefined || want === 0) return;
    holding.held += granted;
    holding.level = level;
    holding.atMs = sentMs;
    if (back < 0) holding.owed = Math.max(0, holding.owed + back);
    const isEmpty = granted < want && level < 1;
    holding.emptyUntilMs = isEmpty ? now() + Math.max(EMPTY_MS, (1 - level) / perMs) : -Infinity;
  }

  function answered(): void {
    observe({ kind: "rate_leases", result: "leased" });
    unavailableUntilMs = undefined;
  }

  function failed(error: unknown): void {
    observe({ kind: "rate_leases", result: "failed" });
    const isForbidden = error instanceof DatabaseError &&
      (error.kind === "permission" || error.kind === "stale");
    if (unavailableUntilMs === undefined) {
      observe({ kind: "warning", message: explain(isForbidden) });
    }
    unavailableUntilMs = now() + (isForbidden ? FORBIDDEN_MS : AGAIN_MS);
  }

  function explain(isForbidden: boolean): string {
    const share = `each of ${members} processes admits its share of the rate limit`;
    return isForbidden
      ? `the rate limit is not shared: the role may not call rowgate.lease_rates, or the schema ` +
        `rowgate is of an earlier version (rowgate doctor has the statements); ${share}`
      : `the rate limit is not shared while the database is unavailable: ${share}`;
  }

  /** Returns leases that were not used for a while, least recently used keys first. */
  function sweep(): void {
    const nowMs = now();
    for (const [key, holding] of kept) {
      if (nowMs - holding.usedMs < IDLE_MS) break;
      // While it counts by itself, a bucket is remembered until it is full again.
      const isCounted = unavailableUntilMs !== undefined && levelOf(holding) < capacity;
      if (holding.asking === undefined && holding.waiting === 0 && !isCounted) forget(key);
    }
    sweeps++;
    if (sweeps % SWEEPS_OF_MEMBERS === 0) void meet(false);
    if (sweeps % SWEEPS_OF_PRUNING === 0) void prune();
  }

  function forget(key: string): void {
    const { held, owed } = kept.get(key)!;
    kept.delete(key);
    if (unavailableUntilMs === undefined && held - owed !== 0) {
      void queue.ask({ id: key, want: 0, back: held - owed });
    }
  }

  async function meet(ended: boolean): Promise<void> {
    try {
      members = Math.max(1, await leases.countMembers(ended));
      observe({ kind: "rate_members", members });
    } catch {
      // The last known number stays in use; the request for a lease reports that there are none.
    }
  }

  async function prune(): Promise<void> {
    try {
      while (await leases.prune() >= PRUNED_BUCKETS);
    } catch {
      // Every process tries again in a minute.
    }
  }

  async function close(): Promise<void> {
    clearInterval(timer);
    for (const key of [...kept.keys()]) forget(key);
    await queue.idle();
    if (unavailableUntilMs === undefined) await meet(true);
  }

  return { draw, close };
}

/** Waits for a promise that never rejects, at most so many milliseconds. */
async function within(waited: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([waited, new Promise<void>((resolve) => timer = setTimeout(resolve, ms))]);
  clearTimeout(timer);
}
