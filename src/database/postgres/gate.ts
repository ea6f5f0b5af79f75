import { startDeadline } from "../../server/runtime/timers.ts";
import type { Client } from "./database.ts";
import { type Failure, makeFailure } from "./database_error.ts";
import { ABORTED_CODE, POOL_WAIT } from "./failure_kind.ts";

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

/** What observes a gate, and how much of it one tenant may take. */
export interface GateOptions {
  readonly watch?: WatchGate | undefined;
  /** Most places of one tenant; undefined: all of them. */
  readonly maxOfShare?: number;
}

/** An entrant that waits. */
interface Waiter {
  readonly arrivedMs: number;
  readonly admit: () => void;
}

/** What a tenant has at a gate. It is deleted when none of its entrants is inside or waiting. */
interface Share {
  /** The tenant; undefined: the service itself. */
  readonly name: string | undefined;
  inside: number;
  /** Those inside that are not brief. */
  slow: number;
  /** Those that wait, in the order of arrival. */
  readonly waiting: { readonly brief: Set<Waiter>; readonly slow: Set<Waiter> };
}

/** How long a tenant counts as active after a statement. */
const ACTIVE_MS = 10_000;

/**
 * Admits a fixed number of statements at a time, and shares its places fairly between tenants. The
 * driver's own queue is limited neither in length nor in time.
 *
 * An entrant waits, is inside, and has left; or it is refused, after the longest wait or when its
 * client disconnects.
 *
 * - **Reserved share.** If there are five places or more, a fifth is reserved for tenants that have
 *   nothing inside.
 * - **Fair order.** The other places go to the entrant that has waited longest, but no tenant may be
 *   two places ahead of another one that is waiting. With fewer than five places, tenants take turns.
 * - **Cap.** While several tenants are active, each has a fifth of the places, and two at least, for
 *   statements that are not brief. With more, long ones would take the processors of Postgres from
 *   the others.
 * @see RE8, RE10, RE33
 * @see docs/decisions/0030-admission.md
 */
export class Gate {
  readonly #size: number;
  readonly #waitMs: number;
  readonly #watch: WatchGate | undefined;
  readonly #maxOfShare: number;
  readonly #reserved: number;
  readonly #shares = new Map<string | undefined, Share>();
  /** The shares with waiting entrants, the one that was admitted longest ago first. */
  readonly #queue = new Set<Share>();
  #taken = 0;
  #takenReserved = 0;
  #waiting = 0;
  /** The two tenants that were active last, which is enough to tell whether one is alone. */
  #last = { name: "", ms: -Infinity };
  #other = this.#last;

  constructor(size: number, waitMs: number, { watch, maxOfShare = size }: GateOptions = {}) {
    this.#size = size;
    this.#waitMs = waitMs;
    this.#watch = watch;
    this.#maxOfShare = maxOfShare;
    this.#reserved = Math.floor(size / 5);
    this.#report();
  }

  /**
   * Returns the function that frees the place; a failure if the wait took too long or the client
   * disconnected.
   */
  enter({ tenant, client, brief = false }: Entrant = {}): Promise<(() => void) | Failure> {
    this.#noteActive(tenant);
    const share = this.#shares.get(tenant) ?? openShare(tenant);
    this.#shares.set(tenant, share);
    if (!this.#hasRoom(share, brief)) return this.#wait(share, brief, client);
    const leave = this.#admit(share, brief);
    this.#report();
    this.#watch?.waited(0);
    return Promise.resolve(leave);
  }

  #noteActive(tenant: string | undefined): void {
    if (tenant === undefined) return;
    if (tenant !== this.#last.name) this.#other = this.#last;
    this.#last = { name: tenant, ms: performance.now() };
  }

  /** Reports whether no other tenant was active lately. */
  #isAlone(tenant: string): boolean {
    const { ms } = this.#last.name === tenant ? this.#other : this.#last;
    return performance.now() - ms > ACTIVE_MS;
  }

  #wait(share: Share, brief: boolean, client?: Client): Promise<(() => void) | Failure> {
    const lane = brief ? share.waiting.brief : share.waiting.slow;
    const arrivedMs = performance.now();
    return new Promise((resolve) => {
      const settle = (result: (() => void) | Failure) => {
        lane.delete(waiter);
        this.#waiting--;
        this.#forget(share);
        endDeadline();
        this.#report();
        this.#watch?.waited(performance.now() - arrivedMs);
        resolve(result);
      };
      const waiter: Waiter = { arrivedMs, admit: () => settle(this.#admit(share, brief)) };
      const endDeadline = startDeadline({
        ms: this.#waitMs,
        late: () => settle(makeFailure("unavailable", POOL_WAIT)),
        client,
        gone: () => settle(makeFailure("timeout", ABORTED_CODE)),
      });
      lane.add(waiter);
      this.#queue.add(share);
      this.#waiting++;
      this.#report();
    });
  }

  #admit(share: Share, brief: boolean): () => void {
    const ofReserved = this.#isOpen() ? 0 : 1;
    const ofSlow = brief ? 0 : 1;
    this.#move(share, { ofReserved, ofSlow, by: 1 });
    let isInside = true;
    return () => {
      if (!isInside) return;
      isInside = false;
      this.#move(share, { ofReserved, ofSlow, by: -1 });
      this.#forget(share);
      this.#admitWaiting();
      this.#report();
    };
  }

  #move(
    share: Share,
    { ofReserved, ofSlow, by }: Readonly<Record<"ofReserved" | "ofSlow" | "by", number>>,
  ): void {
    this.#taken += by;
    this.#takenReserved += by * ofReserved;
    share.inside += by;
    share.slow += by * ofSlow;
  }

  #admitWaiting(): void {
    let next = this.#findNext();
    for (; next !== undefined; next = this.#findNext()) {
      this.#queue.delete(next.share);
      this.#queue.add(next.share);
      next.waiter.admit();
    }
  }

  /** Reports whether a place is free that is not reserved. */
  #isOpen(): boolean {
    return this.#taken - this.#takenReserved < this.#size - this.#reserved;
  }

  #hasRoom(share: Share, brief: boolean): boolean {
    if (share.inside >= this.#maxOfShare || !brief && !this.#isBelowCap(share)) return false;
    return this.#isOpen() || share.inside === 0 && this.#takenReserved < this.#reserved;
  }

  /** Reports whether a tenant may have one more statement that is not brief. */
  #isBelowCap({ name, slow }: Share): boolean {
    return name === undefined || slow < Math.max(2, this.#reserved) || this.#isAlone(name);
  }

  /** Returns the entrant that takes the next place; undefined if none may enter. */
  #findNext(): { readonly share: Share; readonly waiter: Waiter } | undefined {
    if (this.#taken === this.#size) return undefined;
    const firsts = [...this.#queue].flatMap((share) => {
      const waiter = share.inside < this.#maxOfShare ? this.#findFirst(share) : undefined;
      return waiter === undefined ? [] : [{ share, waiter }];
    });
    const fewest = Math.min(...firsts.map(({ share }) => share.inside));
    const lead = this.#reserved === 0 ? 0 : 1;
    const most = this.#isOpen() ? fewest + lead : 0;
    const entitled = firsts.filter(({ share }) => share.inside <= most);
    if (lead === 0 || entitled.length < 2) return entitled[0];
    return entitled.reduce((one, other) =>
      other.waiter.arrivedMs < one.waiter.arrivedMs ? other : one
    );
  }

  /** Returns the next entrant of a share; undefined if none may enter. */
  #findFirst(share: Share): Waiter | undefined {
    const [brief] = share.waiting.brief;
    const [slow] = this.#isBelowCap(share) ? share.waiting.slow : [];
    if (brief === undefined || slow === undefined) return brief ?? slow;
    return brief.arrivedMs < slow.arrivedMs ? brief : slow;
  }

  #forget(share: Share): void {
    if (share.waiting.brief.size + share.waiting.slow.size > 0) return;
    this.#queue.delete(share);
    if (share.inside === 0) this.#shares.delete(share.name);
  }

  #report(): void {
    this.#watch?.moved(this.#size, this.#taken, this.#waiting);
  }
}

function openShare(name: string | undefined): Share {
  return { name, inside: 0, slow: 0, waiting: { brief: new Set(), slow: new Set() } };
}
