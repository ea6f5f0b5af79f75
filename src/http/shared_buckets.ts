import type { Observe } from "../telemetry/observe.ts";
import type { BucketOptions, Draw } from "./buckets.ts";
import { createHoldingRules, type Holding } from "./holding.ts";
import { watchAvailability } from "./lease_availability.ts";
import { openLeaseQueue } from "./lease_queue.ts";
import { type Lease, type LeaseQuestion, PRUNED_BUCKETS, type RateLeases } from "./rate_leases.ts";
import { openRateMembers } from "./rate_members.ts";

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

/** A lease is this part of the limit, or the inflow of so many seconds, whichever is more. */
const LEASE_PART = 1 / 20;
const LEASE_SECONDS = 0.25;
/** Smaller leases are not renewed in advance, since the other instances lack what one of them holds. */
const MIN_AHEAD = 4;
/** How long a request waits for a lease before it takes the share of this process. */
const WAIT_MS = 500;
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
  { leases, observe, size, ...limit }: SharedBucketsOptions,
): SharedBuckets {
  const { capacity, windowSeconds, now } = limit;
  const inflow = capacity / windowSeconds;
  const leaseSize = Math.ceil(Math.max(capacity * LEASE_PART, inflow * LEASE_SECONDS));
  const rules = createHoldingRules(limit);
  const kept = new Map<string, Holding>();
  const members = openRateMembers({ leases, observe });
  const availability = watchAvailability({ now, observe, members: members.count });
  const { answered, failed } = availability;
  const queue = openLeaseQueue({ leases, now, receive, answered, failed });
  let sweeps = 0;
  const timer = setInterval(sweep, SWEEP_MS);
  void members.meet();

  return { draw, close };

  function draw(key: string): Draw | Promise<Draw> {
    const holding = touch(key);
    if (holding.held < 1) return drawWithoutLease(key, holding);
    const drawn = rules.take(holding);
    if (isRunningOut(holding)) void ask(key, holding);
    return drawn;
  }

  async function drawWithoutLease(key: string, holding: Holding): Promise<Draw> {
    const endMs = now() + WAIT_MS;
    for (;;) {
      if (holding.held >= 1) return rules.take(holding);
      if (!availability.isAvailable()) {
        if (availability.mayAsk()) void ask(key, holding);
        return rules.takeShare(holding, members.count());
      }
      const nowMs = now();
      if (nowMs < holding.emptyUntilMs) return rules.reject(holding);
      if (nowMs >= endMs) return rules.takeShare(holding, members.count());
      holding.waiting++;
      await within(ask(key, holding), endMs - nowMs);
      holding.waiting--;
    }
  }

  function touch(key: string): Holding {
    const holding = kept.get(key) ?? rules.open();
    holding.usedMs = now();
    kept.delete(key);
    kept.set(key, holding);
    if (kept.size > size) forget(kept.keys().next().value!);
    return holding;
  }

  /**
   * Reports whether to request the next lease in advance. Not if so little is left that others would
   * lack it.
   */
  function isRunningOut({ held, level, asking }: Holding): boolean {
    return held < leaseSize / 2 && leaseSize >= MIN_AHEAD && level >= leaseSize &&
      asking === undefined && availability.isAvailable();
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

  function receive(lease: Lease, asked: LeaseQuestion, sentMs: number): void {
    const holding = kept.get(lease.id);
    // The key was forgotten meanwhile: what it was granted is lost until it flows in again.
    if (holding === undefined || asked.want === 0) return;
    rules.receive(holding, lease, { asked, sentMs });
  }

  /** Returns leases that were not used for a while, least recently used keys first. */
  function sweep(): void {
    const nowMs = now();
    for (const [key, holding] of kept) {
      if (nowMs - holding.usedMs < IDLE_MS) break;
      // While it counts by itself, a bucket is remembered until it is full again.
      const isCounted = !availability.isAvailable() && rules.levelOf(holding) < capacity;
      if (holding.asking === undefined && holding.waiting === 0 && !isCounted) forget(key);
    }
    sweeps++;
    if (sweeps % SWEEPS_OF_MEMBERS === 0) void members.meet();
    if (sweeps % SWEEPS_OF_PRUNING === 0) void prune();
  }

  function forget(key: string): void {
    const { held, owed } = kept.get(key)!;
    kept.delete(key);
    if (availability.isAvailable() && held - owed !== 0) {
      void queue.ask({ id: key, want: 0, back: held - owed });
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
    if (availability.isAvailable()) await members.leave();
  }
}

/** Waits for a promise that never rejects, at most so many milliseconds. */
async function within(waited: Promise<void>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  await Promise.race([waited, new Promise<void>((resolve) => timer = setTimeout(resolve, ms))]);
  clearTimeout(timer);
}
