import { type Probe, watchCrowding } from "./crowding.ts";
import type { Lane, Share, Waiter } from "./share.ts";

/** The places of a gate: which share may take one, and which of those that wait takes the next. */
export interface Places {
  readonly countTaken: () => number;
  /** Reports whether a share may take a place for a lane now. */
  readonly hasRoom: (share: Share, lane: Lane) => boolean;
  /** Takes a place; returns the function that frees it, to be called once. */
  readonly take: (share: Share, lane: Lane) => () => void;
  /** Returns the entrant that takes the next place; undefined if none may enter. */
  readonly findNext: (queue: ReadonlySet<Share>) => Next | undefined;
}

/** The entrant that takes the next place. */
export interface Next {
  readonly share: Share;
  readonly waiter: Waiter;
}

/** How many places there are, and what bounds those of one share. */
export interface PlacesOptions {
  readonly size: number;
  /** Most places of one share. */
  readonly maxOfShare: number;
  /** Reports whether no other tenant was active lately. */
  readonly isAlone: (tenant: string) => boolean;
  /** Shows whether Postgres is crowded; undefined: that bounds no share. */
  readonly probe: Probe | undefined;
}

/**
 * Opens the places of a gate. If there are five or more, a fifth is reserved for shares without a
 * place. Other places go to the entrant that has waited longest, but no share may be two places ahead
 * of another one that is waiting. So a tenant with many or slow statements leaves places for the
 * others. With fewer than five places, the shares take turns.
 *
 * While several tenants are active, a tenant with long statements gets a fifth of the places for
 * statements that are not brief. With more, it would take the processors of Postgres from the others.
 * The last place of this fifth stays free until one of its statements has run for a second, so that a
 * report does not hold up the other queries of its tenant; longer if these are reports as well. A
 * tenant with short ones gets this fifth, and more as long as Postgres is not crowded
 * ({@link watchCrowding}).
 * @see RE10, RE33
 * @see docs/decisions/0030-admission.md
 */
export function openPlaces({ size, maxOfShare, isAlone, probe }: PlacesOptions): Places {
  const reserved = Math.floor(size / 5);
  /** Places that a share may be ahead of another waiting one and still be next. */
  const lead = reserved === 0 ? 0 : 1;
  const few = Math.max(2, reserved);
  const crowding = watchCrowding({ least: few, most: size, probe });
  let taken = 0;
  let takenReserved = 0;

  /** Reports whether a place is free that is not reserved. */
  function isOpen(): boolean {
    return taken - takenReserved < size - reserved;
  }

  function hasRoom(share: Share, lane: Lane): boolean {
    if (share.inside >= maxOfShare || !mayRun(share, lane)) return false;
    return isOpen() || share.inside === 0 && takenReserved < reserved;
  }

  /** Reports whether a tenant that is not alone may run one more statement of a lane. */
  function mayRun(share: Share, lane: Lane): boolean {
    const { name, running } = share;
    if (lane === share.brief || name === undefined || isAlone(name)) return true;
    const allowed = running.isHeldUp() ? few : few - 1;
    const count = running.count();
    return count < Math.max(allowed, running.most()) && crowding.allows(count);
  }

  function take(share: Share, lane: Lane): () => void {
    const ofReserved = isOpen() ? 0 : 1;
    takenReserved += ofReserved;
    taken++;
    share.inside++;
    const ended = lane === share.brief ? undefined : share.running.start();
    return () => {
      ended?.();
      taken--;
      takenReserved -= ofReserved;
      share.inside--;
    };
  }

  function findNext(queue: ReadonlySet<Share>): Next | undefined {
    if (taken === size) return undefined;
    const maxInside = isOpen() ? findFewestInside(queue) + lead : 0;
    let next: Next | undefined;
    for (const share of queue) {
      if (share.inside > maxInside || share.inside >= maxOfShare) continue;
      const waiter = findFirst(share);
      if (waiter === undefined) continue;
      if (lead === 0) return { share, waiter };
      if (next === undefined || waiter.arrivedMs < next.waiter.arrivedMs) next = { share, waiter };
    }
    return next;
  }

  function findFewestInside(queue: ReadonlySet<Share>): number {
    let fewest = Infinity;
    for (const share of queue) {
      if (share.inside >= Math.min(fewest, maxOfShare) || findFirst(share) === undefined) continue;
      fewest = share.inside;
    }
    return fewest;
  }

  /** Returns the next entrant of a share; undefined if none may enter. */
  function findFirst(share: Share): Waiter | undefined {
    const [brief] = share.brief.waiting;
    const [other] = mayRun(share, share.other) ? share.other.waiting : [];
    if (brief === undefined || other === undefined) return brief ?? other;
    return brief.arrivedMs < other.arrivedMs ? brief : other;
  }

  return { countTaken: () => taken, hasRoom, take, findNext };
}
