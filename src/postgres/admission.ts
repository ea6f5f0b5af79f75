import type { Failure } from "./database_error.ts";
import { makeFailure } from "./database_error.ts";
import { startDeadline } from "../runtime/timers.ts";
import type { Client } from "./database.ts";

/** Admits a fixed number at a time; the others wait, and no share keeps the others waiting for long. */
export interface Gate {
  /** Gives the function that frees the place; a failure when the wait took too long, or the client left. */
  readonly enter: (entrant?: Entrant) => Promise<(() => void) | Failure>;
}

/** A statement or transaction that wants a place. */
export interface Entrant {
  /** The tenant whose share of the places it takes; the service itself when undefined. */
  readonly tenant?: string | undefined;
  readonly client?: Client | undefined;
}

/** Observes a gate: its size, the places taken, those that wait, and how long each waited. */
export interface WatchGate {
  readonly moved: (size: number, inside: number, waiting: number) => void;
  readonly waited: (ms: number) => void;
}

/** What observes a gate, and how much of it one share may take. */
export interface GateOptions {
  readonly watch?: WatchGate | undefined;
  /** Most places of one share; all of them when undefined. */
  readonly maxOfShare?: number;
}

/** An entrant that waits. */
interface Waiter {
  readonly arrivedMs: number;
  /** Admits it; undefined when it no longer waits, since an old table of the set may still hold it. */
  enter: (() => void) | undefined;
}

/** The state of a share, which is deleted when none of it is inside or waits. */
interface Share {
  readonly name: string | undefined;
  inside: number;
  admitted: number;
  /** In the order of arrival. */
  readonly waiting: Set<Waiter>;
  /** How many can wait and still be admitted in time, as far as is known. */
  mayWait: number;
}

/**
 * Makes a gate with `size` places. Of five or more, a fifth is reserved for shares that have no place.
 * The other places go to the entrant that has waited longest, except that no share may be two places
 * ahead of another one that waits. So a tenant with many statements, or slow ones, leaves places for
 * the others. With fewer than five places the shares take turns. An entrant that waits longer than
 * `waitMs` is rejected, and one that would certainly do so is rejected at once. The driver's own queue
 * has no limit in length or time.
 * @see RE8, RE10
 * @see docs/decisions/0030-fair-admission.md
 */
export function openGate(
  size: number,
  waitMs: number,
  { watch, maxOfShare = size }: GateOptions = {},
): Gate {
  const reserved = Math.floor(size / 5);
  /** How many places a share may be ahead of another one and still be next. */
  const lead = reserved === 0 ? 0 : 1;
  const shares = new Map<string | undefined, Share>();
  /** The shares with waiting entrants, the one that was admitted longest ago first. */
  const queue = new Set<Share>();
  let inside = 0;
  let insideReserved = 0;
  let waiting = 0;
  report();

  function report(): void {
    watch?.moved(size, inside, waiting);
  }

  /** Reports whether a place is free that is not reserved. */
  function isOpen(): boolean {
    return inside - insideReserved < size - reserved;
  }

  function hasRoom(share: Share): boolean {
    if (share.inside >= maxOfShare) return false;
    return isOpen() || share.inside === 0 && insideReserved < reserved;
  }

  function findNext(): Share | undefined {
    if (inside === size) return undefined;
    const maxInside = isOpen() ? fewestInside() + lead : 0;
    let next: Share | undefined;
    let sinceMs = Infinity;
    for (const share of queue) {
      if (share.inside > maxInside || share.inside >= maxOfShare) continue;
      if (lead === 0) return share;
      const { arrivedMs } = firstOf(share);
      if (arrivedMs >= sinceMs) continue;
      next = share;
      sinceMs = arrivedMs;
    }
    return next;
  }

  function fewestInside(): number {
    let fewest = Infinity;
    for (const share of queue) {
      if (share.inside < maxOfShare) fewest = Math.min(fewest, share.inside);
    }
    return fewest;
  }

  function admit(share: Share): () => void {
    const taken = isOpen() ? 0 : 1;
    insideReserved += taken;
    inside++;
    share.inside++;
    share.admitted++;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      inside--;
      insideReserved -= taken;
      share.inside--;
      forget(share);
      for (let next = findNext(); next !== undefined; next = findNext()) {
        queue.delete(next);
        queue.add(next);
        firstOf(next).enter?.();
      }
      report();
    };
  }

  function forget(share: Share): void {
    if (share.waiting.size === 0) queue.delete(share);
    if (share.waiting.size === 0 && share.inside === 0) shares.delete(share.name);
  }

  function wait(share: Share, client?: Client): Promise<(() => void) | Failure> {
    const arrivedMs = performance.now();
    const { admitted } = share;
    return new Promise((resolve) => {
      const settle = (result: (() => void) | Failure) => {
        share.waiting.delete(waiter);
        waiter.enter = undefined;
        waiting--;
        forget(share);
        endDeadline();
        report();
        watch?.waited(performance.now() - arrivedMs);
        resolve(result);
      };
      const waiter: Waiter = { arrivedMs, enter: () => settle(admit(share)) };
      const endDeadline = startDeadline({
        ms: waitMs,
        late() {
          // It was first in line: so many are admitted while one waits, and no more.
          share.mayWait = Math.max(size, share.admitted - admitted);
          settle(makeFailure("unavailable", "POOL_WAIT"));
        },
        client,
        gone: () => settle(makeFailure("timeout", "ABORTED")),
      });
      share.waiting.add(waiter);
      queue.add(share);
      waiting++;
      report();
    });
  }

  return {
    enter({ tenant: name, client } = {}) {
      const share = shares.get(name) ??
        { name, inside: 0, admitted: 0, waiting: new Set(), mayWait: Infinity };
      if (share.waiting.size >= share.mayWait) {
        return Promise.resolve(makeFailure("unavailable", "POOL_WAIT"));
      }
      shares.set(name, share);
      if (!hasRoom(share)) return wait(share, client);
      const leave = admit(share);
      report();
      watch?.waited(0);
      return Promise.resolve(leave);
    },
  };
}

function firstOf({ waiting }: Share): Waiter {
  const [first] = waiting;
  return first!;
}
