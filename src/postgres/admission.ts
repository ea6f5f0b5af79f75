import type { Failure } from "./database_error.ts";
import { fail } from "./database_error.ts";
import { startDeadline } from "../runtime/timers.ts";
import type { Client } from "./database.ts";

/** Lets so many in at a time; the others wait, and no share keeps the others waiting for long. */
export interface Gate {
  /** Gives the way out, to be called once; or a failure when it took too long or nobody waits. */
  readonly enter: (entrant?: Entrant) => Promise<(() => void) | Failure>;
}

/** Who wants to enter. */
export interface Entrant {
  /** Whose share of the places it takes: a tenant; the service's own work when undefined. */
  readonly share?: string | undefined;
  readonly client?: Client | undefined;
}

/** Hears of a gate: how many it has room for, are inside, wait; how long one has waited. */
export interface WatchGate {
  readonly moved: (size: number, inside: number, waiting: number) => void;
  readonly waited: (ms: number) => void;
}

/** How a gate is made besides. */
export interface GateOptions {
  readonly watch?: WatchGate | undefined;
  /** Places that one share may take; all of them when undefined. */
  readonly mostOfShare?: number;
}

/** Somebody who waits. */
interface Waiter {
  readonly arrivedMs: number;
  /** Lets it in; undefined once it waits no more, since an old table of the set may still hold it. */
  enter: (() => void) | undefined;
}

/** How one share stands; forgotten when nobody of it is inside or waits. */
interface Share {
  readonly name: string | undefined;
  inside: number;
  admitted: number;
  /** In the order of arrival. */
  readonly waiting: Set<Waiter>;
  /** How many more may wait, as far as is known. */
  hope: number;
}

/**
 * Makes a gate for `size` at a time. Of five places or more a fifth is kept, each for somebody of a
 * share that has nobody inside; into the others goes who has waited longest, but nobody of a share that
 * is two ahead of another one that waits. So one tenant with many statements, or with slow ones, leaves
 * the others their turn. Of fewer places each share has one after the other. Whoever waits longer than
 * `waitMs` is turned away; who could only wait in vain, at once. The driver's own queue has no bound in
 * length or time.
 * @see RE8, RE10
 * @see docs/decisions/0030-fair-admission.md
 */
export function openGate(
  size: number,
  waitMs: number,
  { watch, mostOfShare = size }: GateOptions = {},
): Gate {
  const kept = Math.floor(size / 5);
  /** By so many inside may a share be ahead of another and still be next. */
  const lead = kept === 0 ? 0 : 1;
  const shares = new Map<string | undefined, Share>();
  /** The shares for which somebody waits, the one whose last turn is longest ago first. */
  const turns = new Set<Share>();
  let inside = 0;
  let insideKept = 0;
  let waiting = 0;
  tell();

  function tell(): void {
    watch?.moved(size, inside, waiting);
  }

  /** Tells whether a place is free that is kept for nobody. */
  function isOpen(): boolean {
    return inside - insideKept < size - kept;
  }

  function hasRoom(share: Share): boolean {
    if (share.inside >= mostOfShare) return false;
    return isOpen() || share.inside === 0 && insideKept < kept;
  }

  function findNext(): Share | undefined {
    if (inside === size) return undefined;
    const most = isOpen() ? fewestInside() + lead : 0;
    let next: Share | undefined;
    let sinceMs = Infinity;
    for (const share of turns) {
      if (share.inside > most || share.inside >= mostOfShare) continue;
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
    for (const share of turns) {
      if (share.inside < mostOfShare) fewest = Math.min(fewest, share.inside);
    }
    return fewest;
  }

  function admit(share: Share): () => void {
    const taken = isOpen() ? 0 : 1;
    insideKept += taken;
    inside++;
    share.inside++;
    share.admitted++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside--;
      insideKept -= taken;
      share.inside--;
      forget(share);
      for (let next = findNext(); next !== undefined; next = findNext()) {
        turns.delete(next);
        turns.add(next);
        firstOf(next).enter?.();
      }
      tell();
    };
  }

  function forget(share: Share): void {
    if (share.waiting.size === 0) turns.delete(share);
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
        tell();
        watch?.waited(performance.now() - arrivedMs);
        resolve(result);
      };
      const waiter: Waiter = { arrivedMs, enter: () => settle(admit(share)) };
      const endDeadline = startDeadline({
        ms: waitMs,
        late() {
          // Who waited in vain stood in front: this many come in while one waits, and no more.
          share.hope = Math.max(size, share.admitted - admitted);
          settle(fail("unavailable", "POOL_WAIT"));
        },
        client,
        gone: () => settle(fail("timeout", "ABORTED")),
      });
      share.waiting.add(waiter);
      turns.add(share);
      waiting++;
      tell();
    });
  }

  return {
    enter({ share: name, client } = {}) {
      const share = shares.get(name) ??
        { name, inside: 0, admitted: 0, waiting: new Set(), hope: Infinity };
      if (share.waiting.size >= share.hope) {
        return Promise.resolve(fail("unavailable", "POOL_WAIT"));
      }
      shares.set(name, share);
      if (!hasRoom(share)) return wait(share, client);
      const leave = admit(share);
      tell();
      watch?.waited(0);
      return Promise.resolve(leave);
    },
  };
}

function firstOf({ waiting }: Share): Waiter {
  const [first] = waiting;
  return first!;
}
