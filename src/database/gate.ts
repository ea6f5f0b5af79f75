import type { Failure } from "./failure.ts";
import { fail } from "./failure.ts";
import { startDeadline } from "../deadline.ts";
import type { Client } from "./database.ts";

/** Lets so many in at a time, the others one after another, each share in its turn. */
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

/** How one share stands; forgotten when nobody of it is inside or waits. */
interface Share {
  readonly name: string | undefined;
  inside: number;
  admitted: number;
  /** In the order of arrival: what lets each of them in. */
  readonly waiting: Set<() => void>;
  /** How many more may wait, as far as is known. */
  hope: number;
}

/**
 * Makes a gate for `size` at a time. Next is one of the share that has the fewest inside, and a fifth
 * of the places (of five or more) is for shares that have nobody inside: one tenant with many slow
 * statements leaves the others their turn. Whoever waits longer than `waitMs` is turned away; who could only wait in vain,
 * at once. The driver's own queue has no bound in length or time.
 * @see RELIABILITY 5
 */
export function openGate(size: number, waitMs: number, watch?: WatchGate): Gate {
  const kept = Math.floor(size / 5);
  const shares = new Map<string | undefined, Share>();
  /** The shares for which somebody waits, the one whose last turn is longest ago first. */
  const turns = new Set<Share>();
  let inside = 0;
  let waiting = 0;
  tell();

  function tell(): void {
    watch?.moved(size, inside, waiting);
  }

  function hasRoom(share: Share): boolean {
    return size - inside > (share.inside === 0 ? 0 : kept);
  }

  /** Looks at no more than `size + 1` shares: no others can have somebody inside. */
  function findNext(): Share | undefined {
    let next: Share | undefined;
    for (const share of turns) {
      if (next === undefined || share.inside < next.inside) next = share;
      if (next.inside === 0) break;
    }
    return next;
  }

  function admit(share: Share): () => void {
    inside++;
    share.inside++;
    share.admitted++;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside--;
      share.inside--;
      forget(share);
      for (let next = findNext(); next !== undefined && hasRoom(next); next = findNext()) {
        turns.delete(next);
        turns.add(next);
        const [first] = next.waiting;
        first?.();
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
        share.waiting.delete(enter);
        waiting--;
        forget(share);
        endDeadline();
        tell();
        watch?.waited(performance.now() - arrivedMs);
        resolve(result);
      };
      const enter = () => settle(admit(share));
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
      share.waiting.add(enter);
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
