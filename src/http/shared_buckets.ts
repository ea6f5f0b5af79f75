import { DatabaseError } from "../database/postgres/database_error.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import {
  type BucketOptions,
  type Buckets,
  describeDraw,
  type Draw,
  openBuckets,
} from "./buckets.ts";
import { type LeaseQuestion, PRUNED_BUCKETS, type RateLeases } from "./rate_leases.ts";

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
  /** Requests that wait for a lease. */
  waiting: number;
  /** The pending request for a lease; it never rejects. */
  asking: Promise<void> | undefined;
}

/** A request for a lease, and the holding that gets it. */
interface Question extends LeaseQuestion {
  readonly holding: Holding;
}

/** A lease is this part of the limit, or the inflow of so many seconds, whichever is more. */
const LEASE_PART = 1 / 20;
const LEASE_SECONDS = 0.25;
/** Time until the database is asked again, after a failure or if the role or the schema forbids it. */
const AGAIN_MS = 1000;
const FORBIDDEN_MS = 60_000;
/** Least time between two requests for a key of which nothing is left. */
const EMPTY_MS = 50;
/** A lease that is not used for this long is returned. */
const IDLE_MS = 10_000;
const SWEEP_MS = 5000;
/** Sweeps between two deletions of full buckets. */
const SWEEPS_OF_PRUNING = 12;
/** Keys in one statement. */
const MAX_KEYS = 500;

/**
 * Token buckets that the database keeps for all instances. Each instance leases a small part and
 * spends it without asking again. The keys that ask at a time share one statement. While the database
 * grants no leases, each instance counts by itself.
 * @see M21, M22
 */
export class SharedBuckets {
  readonly #options: SharedBucketsOptions;
  readonly #perMs: number;
  readonly #leaseSize: number;
  /** What counts while there are no leases. */
  readonly #own: Buckets;
  /** By key, the least recently used one first. */
  readonly #kept = new Map<string, Holding>();
  readonly #timer: ReturnType<typeof setInterval>;
  #sweeps = 0;
  /** Undefined while the database grants leases. */
  #unavailableUntilMs: number | undefined;
  /** The questions of the next statement, which has not been sent yet. */
  #next: Map<string, Question> | undefined;
  #exchanged: Promise<void> = Promise.resolve();

  constructor(options: SharedBucketsOptions) {
    const { capacity, windowSeconds } = options;
    const inflow = capacity / windowSeconds;
    this.#options = options;
    this.#perMs = inflow / 1000;
    this.#leaseSize = Math.ceil(Math.max(capacity * LEASE_PART, inflow * LEASE_SECONDS));
    this.#own = openBuckets(options);
    this.#timer = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  /** Takes one from the key's bucket: from its lease at once, otherwise after requesting one. */
  draw(key: string): Draw | Promise<Draw> {
    const holding = this.#touch(key);
    return holding.held >= 1 ? this.#take(key, holding) : this.#drawWithoutLease(key, holding);
  }

  /** Returns the leases. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    for (const key of [...this.#kept.keys()]) this.#forget(key);
    await this.#exchanged;
  }

  async #drawWithoutLease(key: string, holding: Holding): Promise<Draw> {
    for (;;) {
      const nowMs = this.#options.now();
      if (holding.held >= 1) return this.#take(key, holding);
      if (nowMs < holding.emptyUntilMs) return this.#describe(holding, false);
      if (nowMs < (this.#unavailableUntilMs ?? -Infinity)) return this.#own.draw(key);
      holding.waiting++;
      await this.#ask(key, holding);
      holding.waiting--;
    }
  }

  /** Takes one of a lease, which must have one, and asks for the next lease in time. */
  #take(key: string, holding: Holding): Draw {
    holding.held--;
    const isShort = holding.held < this.#leaseSize / 2;
    // Not if so little is left that others would lack it.
    const isPlenty = this.#leaseSize >= 4 && holding.level >= this.#leaseSize;
    if (isShort && isPlenty && this.#unavailableUntilMs === undefined) void this.#ask(key, holding);
    return this.#describe(holding, true);
  }

  #describe({ level, atMs, held }: Holding, granted: boolean): Draw {
    const { now, capacity } = this.#options;
    const left = level + (now() - atMs) * this.#perMs + held;
    return describeDraw(granted, Math.min(capacity, left), this.#perMs);
  }

  #touch(key: string): Holding {
    const { now, capacity, size } = this.#options;
    const usedMs = now();
    const holding = this.#kept.get(key) ?? {
      held: 0,
      level: capacity,
      atMs: usedMs,
      usedMs,
      emptyUntilMs: -Infinity,
      waiting: 0,
      asking: undefined,
    };
    holding.usedMs = usedMs;
    this.#kept.delete(key);
    this.#kept.set(key, holding);
    if (this.#kept.size > size) this.#forget(this.#kept.keys().next().value!);
    return holding;
  }

  /** Requests a lease; settles when it has arrived or failed. */
  #ask(key: string, holding: Holding): Promise<void> {
    const most = this.#leaseSize + holding.waiting;
    const want = Math.max(1, Math.min(this.#options.capacity, most));
    holding.asking ??= this.#send({ id: key, want, back: 0, holding }).finally(() =>
      holding.asking = undefined
    );
    return holding.asking;
  }

  /** Returns what a process holds of a key, and no longer remembers the key. */
  #forget(key: string): void {
    const holding = this.#kept.get(key)!;
    this.#kept.delete(key);
    const back = holding.held;
    holding.held = 0;
    const isAsked = this.#unavailableUntilMs === undefined && back > 0;
    if (isAsked) void this.#send({ id: key, want: 0, back, holding });
  }

  /** Adds a question to the next statement; there is one at a time. Never rejects. */
  #send(question: Question): Promise<void> {
    if (this.#next === undefined) {
      const batch = this.#next = new Map<string, Question>();
      this.#exchanged = this.#exchanged.then(() => this.#exchange(batch));
    }
    const { id, want, back } = question;
    const before = this.#next.get(id) ?? { want: 0, back: 0 };
    const both = { want: Math.max(want, before.want), back: back + before.back };
    this.#next.set(id, { ...question, ...both });
    return this.#exchanged;
  }

  async #exchange(batch: ReadonlyMap<string, Question>): Promise<void> {
    const { leases, observe, now } = this.#options;
    this.#next = undefined;
    const questions = [...batch.values()];
    try {
      for (let from = 0; from < questions.length; from += MAX_KEYS) {
        const asked = questions.slice(from, from + MAX_KEYS);
        const sentMs = now();
        const granted = await leases.lease(asked.map(({ id, want, back }) => ({ id, want, back })));
        for (const { id, ...lease } of granted) this.#receive(batch.get(id)!, lease, sentMs);
        observe({ kind: "rate_leases", result: "leased" });
      }
      this.#unavailableUntilMs = undefined;
    } catch (error) {
      this.#fail(error);
    }
  }

  #receive(
    { want, holding }: Question,
    { granted, level }: { readonly granted: number; readonly level: number },
    sentMs: number,
  ): void {
    if (want === 0) return;
    holding.held += granted;
    holding.level = level;
    holding.atMs = sentMs;
    const isEmpty = granted < want && level < 1;
    const waitMs = Math.max(EMPTY_MS, (1 - level) / this.#perMs);
    holding.emptyUntilMs = isEmpty ? this.#options.now() + waitMs : -Infinity;
  }

  #fail(error: unknown): void {
    const { observe, now } = this.#options;
    observe({ kind: "rate_leases", result: "failed" });
    const isForbidden = error instanceof DatabaseError &&
      (error.kind === "permission" || error.kind === "stale");
    const why = isForbidden
      ? "the role may not call rowgate.lease_rates, or the schema rowgate is of an earlier version " +
        "(rowgate doctor has the statements)"
      : "the database is unavailable";
    const message = `the rate limit is not shared: ${why}; each process counts by itself`;
    if (this.#unavailableUntilMs === undefined) observe({ kind: "warning", message });
    this.#unavailableUntilMs = now() + (isForbidden ? FORBIDDEN_MS : AGAIN_MS);
  }

  /** Returns leases that were not used for a while. */
  #sweep(): void {
    const nowMs = this.#options.now();
    for (const [key, { usedMs, asking }] of this.#kept) {
      if (nowMs - usedMs < IDLE_MS) break;
      if (asking === undefined) this.#forget(key);
    }
    if (++this.#sweeps % SWEEPS_OF_PRUNING === 0) void this.#prune();
  }

  async #prune(): Promise<void> {
    try {
      while (await this.#options.leases.prune() >= PRUNED_BUCKETS);
    } catch {
      // Every process tries again in a minute.
    }
  }
}
