import { DatabaseError } from "../postgres/database_error.ts";
import { onNextTick, startDeadline } from "../runtime/timers.ts";

/** A batch that has not settled this long after it was sent is given up; what is left of it runs alone. */
const LATE_MS = 250;
/** After a batch went wrong, everything runs alone for this long. */
const PAUSE_MS = 10_000;

/** An item that can be batched, and the way to run it by itself. */
export interface Batchable<Item, Result> {
  readonly item: Item;
  readonly runAlone: () => Promise<Result>;
}

/** One batch on its way. */
export interface BatchRun {
  /** To be called when the batch is sent. */
  readonly sent: () => void;
  /** Aborted when the results are no longer waited for. */
  readonly client: { readonly signal: AbortSignal };
}

/**
 * Runs several items at once, and gives a promise for each, in their order. An item that resolves to
 * undefined is run alone afterwards. Once the client is aborted, each promise settles as soon as it
 * is certain what became of its item.
 */
export type RunBatch<Item, Result> = (
  items: readonly Item[],
  run: BatchRun,
) => readonly Promise<Result | undefined>[];

/** Limits of the batches. */
export interface BatchOptions {
  readonly maxItems: number;
  /** A batch slower than this, in milliseconds, costs more than it saves; never when undefined. */
  readonly slowMs?: number;
  readonly now?: () => number;
}

/** Runs an item alone or in a batch. */
export type Batcher<Item, Result> = (batchable: Batchable<Item, Result>) => Promise<Result>;

interface Pending<Item, Result> {
  readonly item: Item;
  /** Undefined: the item is to be run alone. */
  readonly resolve: (result: Result | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Opens a batcher. An item runs alone, at once, while no other one is running; otherwise it waits
 * until the end of the current tick of the event loop and runs with those that arrived by then. When
 * something goes wrong with a batch, its items run alone, and so does everything for a while.
 * @see docs/decisions/0022-batched-look-ups.md
 */
export function openBatcher<Item, Result>(
  runBatch: RunBatch<Item, Result>,
  { maxItems, slowMs = Infinity, now = () => performance.now() }: BatchOptions,
): Batcher<Item, Result> {
  let pending: Pending<Item, Result>[] = [];
  let running = 0;
  let pausedUntilMs = 0;

  function run(batchable: Batchable<Item, Result>): Promise<Result> {
    return running === 0 || now() < pausedUntilMs ? runAlone(batchable) : runWithOthers(batchable);
  }

  async function runAlone(batchable: Batchable<Item, Result>): Promise<Result> {
    running++;
    try {
      return await batchable.runAlone();
    } finally {
      running--;
    }
  }

  async function runWithOthers(batchable: Batchable<Item, Result>): Promise<Result> {
    const { item } = batchable;
    const result = await new Promise<Result | undefined>((resolve, reject) => {
      if (pending.push({ item, resolve, reject }) === 1) onNextTick(sendPending);
    });
    return result === undefined ? await runAlone(batchable) : result;
  }

  function sendPending(): void {
    const all = pending;
    pending = [];
    for (let from = 0; from < all.length; from += maxItems) {
      const some = all.slice(from, from + maxItems);
      if (some.length > 1) send(some);
      else some[0]!.resolve(undefined);
    }
  }

  function send(batch: readonly Pending<Item, Result>[]): void {
    running += batch.length;
    const client = new AbortController();
    let unsettled = batch.length;
    let endDeadline: (() => void) | undefined;
    let sentMs = Infinity;
    const sent = () => {
      sentMs = now();
      endDeadline ??= startDeadline({ ms: LATE_MS, late: () => client.abort() });
    };
    const settled = () => {
      running--;
      if (--unsettled > 0) return;
      endDeadline?.();
      if (now() - sentMs > slowMs) pause();
    };
    const results = runBatch(batch.map(({ item }) => item), { sent, client });
    batch.forEach(({ resolve, reject }, place) =>
      results[place]!.then((result) => {
        settled();
        if (result === undefined) pause();
        resolve(result);
      }, (error) => {
        settled();
        reject(error);
      })
    );
  }

  function pause(): void {
    pausedUntilMs = now() + PAUSE_MS;
  }

  return run;
}

/** Keys whose batchers are kept: clients can cause any number of them. */
const MAX_KEYS = 256;

/** Gives a batcher for each key; the oldest is dropped when there are too many. */
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
