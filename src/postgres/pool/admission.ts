import { type Failure, makeFailure } from "../database_error.ts";
import { POOL_WAIT } from "../failure_kind.ts";
import { startDeadline } from "../../runtime/timers.ts";
import type { Client } from "../database.ts";
import { openActivity } from "./activity.ts";
import type { Probe } from "./crowding.ts";
import { openPlaces } from "./places.ts";
import { estimateDistance } from "./distance.ts";
import { openRunningStatements } from "./running_statements.ts";
import { type Lane, openShare, type Share, type Waiter } from "./share.ts";

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
  /** Shows whether Postgres is crowded; undefined: that bounds no tenant. */
  readonly probe?: Probe;
  /** The clock by which statements are long; undefined: `performance.now`. */
  readonly now?: () => number;
}

/** How often waiting entrants are looked at if none leaves: by now they may be allowed to enter. */
const LOOK_MS = 100;

/** How many of a lane were admitted since an entrant arrived, itself included. */
interface Served {
  readonly served: number;
  readonly arrivedMs: number;
}

/**
 * Makes a gate with `size` places, which are shared fairly between tenants ({@link openPlaces}).
 *
 * An entrant that waits longer than `waitMs` is rejected. One that is certain to wait longer is
 * rejected after a moment. The driver's own queue is not limited in length or time.
 * @see RE8
 * @see docs/decisions/0030-admission.md
 */
export function openGate(
  size: number,
  waitMs: number,
  { watch, maxOfShare = size, probe, now = () => performance.now() }: GateOptions = {},
): Gate {
  const activity = openActivity();
  const places = openPlaces({ size, maxOfShare, isAlone: activity.isAlone, probe });
  const distance = estimateDistance();
  const judging = { distance, countAll: places.countTaken, waitMs, now };
  const shares = new Map<string | undefined, Share>();
  /** The shares with waiting entrants, the one that was admitted longest ago first. */
  const queue = new Set<Share>();
  let waiting = 0;
  let looking = false;
  report();

  function report(): void {
    watch?.moved(size, places.countTaken(), waiting);
  }

  function admit(share: Share, lane: Lane): () => void {
    const startedMs = now();
    const free = places.take(share, lane);
    lane.admitted++;
    let isFree = false;
    return () => {
      if (isFree) return;
      isFree = true;
      free();
      distance.took(now() - startedMs);
      forget(share);
      admitWaiting();
      report();
    };
  }

  function admitWaiting(): void {
    let next = places.findNext(queue);
    for (; next !== undefined; next = places.findNext(queue)) {
      queue.delete(next.share);
      queue.add(next.share);
      next.waiter.enter?.();
    }
  }

  /** Admits those that may enter by now, for as long as any wait. */
  function lookAgain(): void {
    if (looking) return;
    looking = true;
    setTimeout(() => {
      looking = false;
      admitWaiting();
      if (waiting > 0) lookAgain();
    }, LOOK_MS);
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
      lookAgain();
      report();
    });
  }

  return {
    enter({ tenant: name, client, brief = false } = {}) {
      if (name !== undefined) activity.entered(name);
      const share = shares.get(name) ??
        openShare(name, openRunningStatements(judging));
      const lane = brief ? share.brief : share.other;
      if (lane.waiting.size >= lane.mayWait) return refuse(client);
      shares.set(name, share);
      if (!places.hasRoom(share, lane)) return wait({ share, lane }, client);
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
