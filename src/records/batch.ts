import { DatabaseError } from "../database/postgres/database_error.ts";
import { onNextTick, startDeadline } from "../server/runtime/timers.ts";

/** After an item fails in a batch, all items of its tenant run alone for this long. */
const PAUSE_MS = 10_000;
/** The pause doubles with each further failure, up to this. */
const MAX_PAUSE_MS = 600_000;

/** An item that can be batched, its tenant, and how to run it alone. */
export interface Batchable<Item, Result> {
  readonly item: Item;
  readonly tenant: string;
  readonly runAlone: (how: RunAlone) => Promise<Result>;
}

/** How an item is run alone. */
export interface RunAlone {
  /** True while items of its tenant are paused: this one may take long, or wait for a lock. */
  readonly paused: boolean;
}

/** A batch that is running. */
export interface BatchRun {
  /** To be called when the batch is sent. */
  readonly sent: () => void;
  /** Aborted when nothing waits for the results. */
  readonly client: { readonly signal: AbortSignal };
}

/**
 * Runs several items at once, and returns a promise for each, in order. An item whose promise
 * resolves to undefined is run alone afterwards. Once `client` is aborted, each promise settles as
 * soon as the outcome of its item is certain.
 */
export type RunBatch<Item, Result> = (
  items: readonly Item[],
  run: BatchRun,
) => readonly Promise<Result | undefined>[];

/** Limits of the batches. */
export interface BatchOptions {
  readonly maxItems: number;
  /** Batches slower than this, in milliseconds, cost more than they save; never when undefined. */
  readonly slowMs?: number;
  /** A batch that has not settled this long after it was sent is given up. */
  readonly lateMs?: number;
  readonly now?: () => number;
}

/** Runs an item alone or in a batch. */
export type Batcher<Item, Result> = (batchable: Batchable<Item, Result>) => Promise<Result>;

interface Pending<Item, Result> extends Pick<Batchable<Item, Result>, "item" | "tenant"> {
  /** Undefined: the item is to be run alone. */
  readonly resolve: (result: Result | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens a batcher. An item runs alone, at once, while no other one is running; otherwise it waits
 * until the end of the current tick of the event loop and runs with those that arrived by then. When
 * something goes wrong with an item in a batch, it runs alone, and so do all of its tenant for a
 * while; for as long again the tenant's items share no batch with those of others. What one tenant
 * sends, such as updates of a row that is locked, delays no other for long.
 * @see docs/decisions/0022-by-key.md
 */
export function openBatcher<Item, Result>(
  runBatch: RunBatch<Item, Result>,
  options: BatchOptions,
): Batcher<Item, Result> {
  const queue = new BatchQueue(runBatch, options);
  return (batchable) => queue.run(batchable);
}

/** The items that wait for the end of the tick, and how many are running. */
class BatchQueue<Item, Result> {
  readonly #runBatch: RunBatch<Item, Result>;
  readonly #maxItems: number;
  readonly #slowMs: number;
  readonly #lateMs: number | undefined;
  readonly #now: () => number;
  readonly #pauses: Pauses;
  #pending: Pending<Item, Result>[] = [];
  #running = 0;

  constructor(
    runBatch: RunBatch<Item, Result>,
    { maxItems, slowMs = Infinity, lateMs, now = () => performance.now() }: BatchOptions,
  ) {
    this.#runBatch = runBatch;
    this.#maxItems = maxItems;
    this.#slowMs = slowMs;
    this.#lateMs = lateMs;
    this.#now = now;
    this.#pauses = openPauses(now);
  }

  run(batchable: Batchable<Item, Result>): Promise<Result> {
    return this.#running === 0 || this.#pauses.isPaused(batchable.tenant)
      ? this.#runAlone(batchable)
      : this.#runWithOthers(batchable);
  }

  async #runAlone(batchable: Batchable<Item, Result>): Promise<Result> {
    this.#running++;
    try {
      return await batchable.runAlone({ paused: this.#pauses.isPaused(batchable.tenant) });
    } finally {
      this.#running--;
    }
  }

  async #runWithOthers(batchable: Batchable<Item, Result>): Promise<Result> {
    const { item, tenant } = batchable;
    const result = await new Promise<Result | undefined>((resolve, reject) => {
      if (this.#pending.push({ item, tenant, resolve, reject }) === 1) {
        onNextTick(() => this.#sendPending());
      }
    });
    return result === undefined ? await this.#runAlone(batchable) : result;
  }

  #sendPending(): void {
    const trusted: Pending<Item, Result>[] = [];
    const doubted = new Map<string, Pending<Item, Result>[]>();
    for (const one of this.#pending) {
      if (!this.#pauses.isDoubted(one.tenant)) trusted.push(one);
      else doubted.get(one.tenant)?.push(one) ?? doubted.set(one.tenant, [one]);
    }
    this.#pending = [];
    this.#sendAll(takeTurns(trusted));
    doubted.forEach((items) => this.#sendAll(items));
  }

  #sendAll(all: readonly Pending<Item, Result>[]): void {
    for (let from = 0; from < all.length; from += this.#maxItems) {
      const some = all.slice(from, from + this.#maxItems);
      if (some.length > 1) this.#send(some);
      else some[0]!.resolve(undefined);
    }
  }

  #send(batch: readonly Pending<Item, Result>[]): void {
    this.#running += batch.length;
    const client = new AbortController();
    let unsettled = batch.length;
    let endDeadline: (() => void) | undefined;
    let sentMs = Infinity;
    /** When the previous item settled: a pipeline runs its items one after another. */
    let beforeMs = Infinity;
    const slow = new Set<string>();
    const sent = () => {
      sentMs = beforeMs = this.#now();
      if (this.#lateMs === undefined) return;
      endDeadline ??= startDeadline({ ms: this.#lateMs, late: () => client.abort() });
    };
    const settled = (tenant: string) => {
      this.#running--;
      const nowMs = this.#now();
      if (nowMs - beforeMs > this.#slowMs / batch.length) slow.add(tenant);
      beforeMs = nowMs;
      if (--unsettled > 0) return;
      endDeadline?.();
      if (nowMs - sentMs > this.#slowMs) {
        slow.forEach((tenant) => this.#pauses.noteSlow(tenant, sentMs));
      } else batch.forEach(({ tenant }) => this.#pauses.noteFast(tenant));
    };
    const results = this.#runBatch(batch.map(({ item }) => item), { sent, client });
    batch.forEach(({ tenant, resolve, reject }, place) =>
      results[place]!.then((result) => {
        settled(tenant);
        if (result === undefined) this.#pauses.pause(tenant);
        resolve(result);
      }, (error) => {
        settled(tenant);
        reject(error);
      })
    );
  }
}

/**
 * Puts the first item of each tenant before the second of any. A pipeline runs its items one after
 * another, so those of a tenant that all wait for one row would add up.
 */
function takeTurns<T extends { readonly tenant: string }>(items: readonly T[]): readonly T[] {
  const counts = new Map<string, number>();
  const turns: T[][] = [];
  for (const item of items) {
    const turn = counts.get(item.tenant) ?? 0;
    counts.set(item.tenant, turn + 1);
    (turns[turn] ??= []).push(item);
  }
  return turns.flat();
}

/** The tenants whose items run alone for now. */
interface Pauses {
  readonly isPaused: (tenant: string) => boolean;
  /** After a pause, for as long again: the tenant shares no batch, since it may go wrong again. */
  readonly isDoubted: (tenant: string) => boolean;
  readonly pause: (tenant: string) => void;
  /** Pauses a tenant that slowed down a batch, if its last one before was slow, too. */
  readonly noteSlow: (tenant: string, sentMs: number) => void;
  readonly noteFast: (tenant: string) => void;
}

function openPauses(now: () => number): Pauses {
  const pauses = new Map<string, { readonly ms: number; readonly untilMs: number }>();
  /** Time at which the last batch of a tenant was found to be slow; fast ones remove it. */
  const slowAt = new Map<string, number>();

  function pause(tenant: string): void {
    const nowMs = now();
    const last = pauses.get(tenant);
    // Several items of one batch count once.
    if (last !== undefined && nowMs < last.untilMs) return;
    for (const [name, { ms, untilMs }] of pauses) {
      if (nowMs > untilMs + ms) pauses.delete(name);
    }
    const ms = Math.min(MAX_PAUSE_MS, 2 * (pauses.get(tenant)?.ms ?? PAUSE_MS / 2));
    pauses.set(tenant, { ms, untilMs: nowMs + ms });
  }

  return {
    isPaused: (tenant) => pauses.size > 0 && now() < (pauses.get(tenant)?.untilMs ?? 0),
    isDoubted(tenant) {
      const last = pauses.get(tenant);
      return last !== undefined && now() < last.untilMs + last.ms;
    },
    pause,
    noteSlow(tenant, sentMs) {
      const nowMs = now();
      for (const [name, ms] of slowAt) if (nowMs > ms + PAUSE_MS) slowAt.delete(name);
      const beforeMs = slowAt.get(tenant);
      if (beforeMs === undefined) slowAt.set(tenant, nowMs);
      // Whatever held up one batch held up those that were on their way as well.
      else if (sentMs >= beforeMs) {
        slowAt.delete(tenant);
        pause(tenant);
      }
    },
    noteFast: (tenant) => void slowAt.delete(tenant),
  };
}

/** Batchers that are kept, since clients can cause any number of keys. */
const MAX_KEYS = 256;

/** Opens a batcher for each key; the oldest is dropped if there are too many. */
export function openBatchers<Item, Result>(
  open: (key: string) => Batcher<Item, Result>,
): (key: string) => Batcher<Item, Result> {
  const batchers = new Map<string, Batcher<Item, Result>>();
  return (key) => {
    const known = batchers.get(key);
    if (known !== undefined) return known;
    const [oldest] = batchers.keys();
    if (batchers.size >= MAX_KEYS) batchers.delete(oldest!);
    const made = open(key);
    batchers.set(key, made);
    return made;
  };
}

/**
 * Undefined for a read that failed in a batch, so that it is repeated alone.
 * @throws {DatabaseError} `unavailable`: then one statement would fail too
 */
export function repeatAlone(error: unknown): undefined {
  if (error instanceof DatabaseError && error.kind === "unavailable") throw error;
  return undefined;
}
