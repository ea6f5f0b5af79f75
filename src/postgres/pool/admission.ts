import { type Failure, makeFailure, POOL_WAIT } from "../database_error.ts";
import { startDeadline } from "../../runtime/timers.ts";
import type { Client } from "../database.ts";
import { openRunningStatements, type RunningStatements } from "./running_statements.ts";

/**
 * Admits a fixed number of statements at a time. The others wait in turn, so that no share holds up
 * another for long.
 */
export interface Gate {
  /**
   * Returns the function that frees the place; a failure if the wait took too long or the client
   * disconnected.
   */
  readonly enter: (entrant?: Entrant) => Promise<(() => void) | Failure>;
}

/** A statement or transaction that wants a place. */
export interface Entrant {
  /** The tenant whose share of the places it takes; undefined: the service itself. */
  readonly tenant?: string | undefined;
  readonly client?: Client | undefined;
  /** True: it finds its row by the key, so it is fast. */
  readonly brief?: boolean | undefined;
}

/** Observes a gate: its size, the places taken, those that wait, and how long each waited. */
export interface WatchGate {
  readonly moved: (size: number, inside: number, waiting: number) => void;
  readonly waited: (ms: number) => void;
}

/** What observes a gate, and how much of it one share may take. */
export interface GateOptions {
  readonly watch?: WatchGate | undefined;
  /** Most places of one share; undefined: all of them. */
  readonly maxOfShare?: number;
}

/** An entrant that waits. */
interface Waiter {
  readonly arrivedMs: number;
  /** Admits it; undefined once it no longer waits, because memory of the set may still refer to it. */
  enter: (() => void) | undefined;
}

/** The waiting entrants of a share that are brief, or those that may run long. */
interface Lane {
  /** In the order of arrival. */
  readonly waiting: Set<Waiter>;
  admitted: number;
  /** How many can wait and still be admitted in time, as an estimate. */
  mayWait: number;
}

/** How many of a lane were admitted since an entrant arrived, itself included. */
interface Served {
  readonly served: number;
  readonly arrivedMs: number;
}

/** The state of a share. It is deleted when none of its entrants is inside or waiting. */
interface Share {
  readonly name: string | undefined;
  inside: number;
  readonly brief: Lane;
  readonly other: Lane;
  /** Those inside that are not brief. */
  readonly running: RunningStatements;
}

/**
 * Makes a gate with `size` places. If there are five or more, a fifth is reserved for shares without
 * a place. Other places go to the entrant that has waited longest, but no share may be two places
 * ahead of another one that is waiting. So a tenant with many or slow statements leaves places for
 * the others. With fewer than five places, the shares take turns.
 *
 * While several tenants are active, a tenant with long statements gets a fifth of the places for
 * statements that are not brief. With more, it would take the processors of Postgres from the others.
 *
 * An entrant that waits longer than `waitMs` is rejected. One that is certain to wait longer is
 * rejected after a moment. The driver's own queue is not limited in length or time.
 * @see RE8, RE10, RE33
 * @see docs/decisions/0030-fair-admission.md
 * @see docs/decisions/0051-long-statements.md
 */
export function openGate(
  size: number,
  waitMs: number,
  { watch, maxOfShare = size }: GateOptions = {},
): Gate {
  const reserved = Math.floor(size / 5);
  /** Places that a share may be ahead of another waiting one and still be next. */
  const lead = reserved === 0 ? 0 : 1;
  const few = Math.max(2, reserved);
  const activity = openActivity();
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

  function hasRoom(share: Share, lane: Lane): boolean {
    if (share.inside >= maxOfShare || !mayRun(share, lane)) return false;
    return isOpen() || share.inside === 0 && insideReserved < reserved;
  }

  /** Reports whether the places of a tenant with long statements allow for one more of a lane. */
  function mayRun(share: Share, lane: Lane): boolean {
    if (lane === share.brief || share.name === undefined || share.running.count() < few) {
      return true;
    }
    return share.running.count() < share.running.most() || activity.isAlone(share.name);
  }

  /** Returns the next entrant of a share; undefined if none may enter. */
  function findFirst(share: Share): Waiter | undefined {
    const [brief] = share.brief.waiting;
    const [other] = mayRun(share, share.other) ? share.other.waiting : [];
    if (brief === undefined || other === undefined) return brief ?? other;
    return brief.arrivedMs < other.arrivedMs ? brief : other;
  }

  function findNext(): { readonly share: Share; readonly waiter: Waiter } | undefined {
    if (inside === size) return undefined;
    const maxInside = isOpen() ? fewestInside() + lead : 0;
    let next: { readonly share: Share; readonly waiter: Waiter } | undefined;
    for (const share of queue) {
      if (share.inside > maxInside || share.inside >= maxOfShare) continue;
      const waiter = findFirst(share);
      if (waiter === undefined) continue;
      if (lead === 0) return { share, waiter };
      if (next === undefined || waiter.arrivedMs < next.waiter.arrivedMs) next = { share, waiter };
    }
    return next;
  }

  function fewestInside(): number {
    let fewest = Infinity;
    for (const share of queue) {
      if (share.inside >= Math.min(fewest, maxOfShare) || findFirst(share) === undefined) continue;
      fewest = share.inside;
    }
    return fewest;
  }

  function admit(share: Share, lane: Lane): () => void {
    const taken = isOpen() ? 0 : 1;
    insideReserved += taken;
    inside++;
    share.inside++;
    lane.admitted++;
    const ended = lane === share.brief ? undefined : share.running.start();
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      inside--;
      insideReserved -= taken;
      share.inside--;
      ended?.();
      forget(share);
      for (let next = findNext(); next !== undefined; next = findNext()) {
        queue.delete(next.share);
        queue.add(next.share);
        next.waiter.enter?.();
      }
      report();
    };
  }

  /**
   * Raises the estimate of how many may wait, if an entrant with a queue before it was admitted
   * quickly. A share is not deleted while its clients keep asking, so otherwise the low estimate of a
   * stall would stay.
   */
  function estimate(lane: Lane, { served, arrivedMs }: Served): void {
    if (served < size || lane.mayWait === Infinity) return;
    const elapsedMs = Math.max(1, performance.now() - arrivedMs);
    lane.mayWait = Math.max(lane.mayWait, Math.floor(served * waitMs / elapsedMs));
  }

  function forget(share: Share): void {
    if (share.brief.waiting.size + share.other.waiting.size > 0) return;
    queue.delete(share);
    if (share.inside === 0) shares.delete(share.name);
  }

  function wait(
    { share, lane }: { readonly share: Share; readonly lane: Lane },
    client?: Client,
  ): Promise<(() => void) | Failure> {
    const arrivedMs = performance.now();
    const { admitted } = lane;
    return new Promise((resolve) => {
      const settle = (result: (() => void) | Failure) => {
        lane.waiting.delete(waiter);
        waiter.enter = undefined;
        waiting--;
        forget(share);
        endDeadline();
        report();
        watch?.waited(performance.now() - arrivedMs);
        resolve(result);
      };
      const waiter: Waiter = {
        arrivedMs,
        enter() {
          settle(admit(share, lane));
          estimate(lane, { served: lane.admitted - admitted, arrivedMs });
        },
      };
      const endDeadline = startDeadline({
        ms: waitMs,
        late() {
          // It was the first in line, so no more than this are admitted while one waits.
          lane.mayWait = Math.max(size, lane.admitted - admitted);
          settle(makeFailure("unavailable", POOL_WAIT));
        },
        client,
        gone: () => settle(makeFailure("timeout", "ABORTED")),
      });
      lane.waiting.add(waiter);
      queue.add(share);
      waiting++;
      report();
    });
  }

  return {
    enter({ tenant: name, client, brief = false } = {}) {
      if (name !== undefined) activity.entered(name);
      const share = shares.get(name) ?? openShare(name);
      const lane = brief ? share.brief : share.other;
      if (lane.waiting.size >= lane.mayWait) return refuse(client);
      shares.set(name, share);
      if (!hasRoom(share, lane)) return wait({ share, lane }, client);
      const leave = admit(share, lane);
      report();
      watch?.waited(0);
      return Promise.resolve(leave);
    },
  };
}

/**
 * Delay of a rejection. In a flood, clients that are rejected at once return at once, and rejecting
 * them costs as much as a short response.
 */
const REFUSAL_MS = 100;

function refuse(client: Client | undefined): Promise<Failure> {
  return new Promise((resolve) => {
    const settle = () => {
      endDeadline();
      resolve(makeFailure("unavailable", POOL_WAIT));
    };
    const endDeadline = startDeadline({ ms: REFUSAL_MS, late: settle, client });
  });
}

function openShare(name: string | undefined): Share {
  const openLane = (): Lane => ({ waiting: new Set(), admitted: 0, mayWait: Infinity });
  const running = openRunningStatements();
  return { name, inside: 0, brief: openLane(), other: openLane(), running };
}

/** How long a tenant counts as active after a statement. */
const ACTIVE_MS = 10_000;

/** Remembers the two tenants that were active last, which is enough to tell whether one is alone. */
function openActivity() {
  let last = { name: "", ms: -Infinity };
  let other = last;
  return {
    entered(name: string): void {
      if (name !== last.name) other = last;
      last = { name, ms: performance.now() };
    },
    /** Reports whether no other tenant was active lately. */
    isAlone(name: string): boolean {
      const { ms } = last.name === name ? other : last;
      return performance.now() - ms > ACTIVE_MS;
    },
  };
}
