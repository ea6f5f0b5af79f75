import { startDeadline } from "../server/runtime/timers.ts";

/** A number of bytes of memory that tenants share. */
export interface ByteBudget {
  /** The size of the budget. */
  readonly max: number;
  /** Takes bytes now, and gives the function that returns them; undefined if too few are left. */
  readonly take: (bytes: number, tenant: string) => Release | undefined;
  /** Waits for bytes; undefined if there were too few in time, or the client disconnected. */
  readonly await: (bytes: number, request: ByteRequest) => Promise<Release | undefined>;
}

/** Returns bytes to the budget, once. */
export type Release = () => void;

/** For whom bytes are taken, and how long they are waited for. */
export interface ByteRequest {
  readonly tenant: string;
  readonly waitMs: number;
  readonly client: { readonly signal: AbortSignal };
}

/**
 * Waiters may ask for this many times the budget in all: Bun reads the bodies of waiting requests
 * too.
 */
const MAX_WAITING_FACTOR = 4;

interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
}

/** A waiter in the queue of its tenant. */
interface QueuePlace {
  readonly queue: Queue;
  readonly waiter: Waiter;
}

/** The waiters of one tenant, in the order of arrival. */
interface Queue {
  readonly waiters: Set<Waiter>;
  bytes: number;
}

/**
 * Opens a budget of `max` bytes. A tenant takes at most half of it, and a fifth is kept for tenants
 * that hold nothing. Of the waiters, the first of the tenant that holds the least is next. Four times
 * the budget may be waited for; beyond that each tenant has an equal share of the queue. More than
 * half of the budget counts as half, so that it can be served at all.
 * @see docs/decisions/0007-bodies.md
 */
export function openByteBudget(max: number): ByteBudget {
  return new SharedBytes(max);
}

/** The bytes that each tenant holds, and the queues of those that wait. */
class SharedBytes implements ByteBudget {
  readonly max: number;
  /** The most that one tenant may hold. */
  readonly #share: number;
  /** The most that tenants that already hold some may take in all. */
  readonly #open: number;
  readonly #held = new Map<string, number>();
  readonly #queues = new Map<string, Queue>();
  #taken = 0;
  #waitingBytes = 0;

  constructor(max: number) {
    this.max = max;
    this.#share = max / 2;
    this.#open = max - max / 5;
  }

  take(bytes: number, tenant: string): Release | undefined {
    const counted = Math.min(bytes, this.#share);
    return this.#fits(tenant, counted) ? this.#hold(tenant, counted) : undefined;
  }

  await(bytes: number, { tenant, waitMs, client }: ByteRequest): Promise<Release | undefined> {
    const counted = Math.min(bytes, this.#share);
    const queue = this.#queues.get(tenant) ?? { waiters: new Set(), bytes: 0 };
    if (this.#isCrowded(queue, counted)) return Promise.resolve(undefined);
    return new Promise((resolve) => {
      const end = (release?: Release) => {
        endDeadline();
        this.#leave(tenant, { queue, waiter });
        resolve(release);
      };
      const waiter: Waiter = { bytes: counted, enter: () => end(this.#hold(tenant, counted)) };
      const endDeadline = startDeadline({ ms: waitMs, late: () => end(), client });
      this.#join(tenant, { queue, waiter });
      this.#admitWaiters();
    });
  }

  #add(tenant: string, bytes: number): void {
    const now = (this.#held.get(tenant) ?? 0) + bytes;
    this.#taken += bytes;
    if (now === 0) this.#held.delete(tenant);
    else this.#held.set(tenant, now);
  }

  #fits(tenant: string, bytes: number): boolean {
    const own = this.#held.get(tenant) ?? 0;
    if (own === 0) return this.#taken + bytes <= this.max;
    return own + bytes <= this.#share && this.#taken + bytes <= this.#open;
  }

  #hold(tenant: string, bytes: number): Release {
    this.#add(tenant, bytes);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      this.#add(tenant, -bytes);
      this.#admitWaiters();
    };
  }

  #admitWaiters(): void {
    for (const tenant of [...this.#queues.keys()].sort((one, other) => this.#byHeld(one, other))) {
      for (const waiter of this.#queues.get(tenant)?.waiters ?? []) {
        if (this.#fits(tenant, waiter.bytes)) waiter.enter();
        // The next tenant holds nothing: the rest of the budget is kept until its bytes fit.
        else if (!this.#held.has(tenant)) return;
        else break;
      }
    }
  }

  #byHeld(one: string, other: string): number {
    return (this.#held.get(one) ?? 0) - (this.#held.get(other) ?? 0);
  }

  /** Reports whether the queues are full and the tenant has more than an equal share of them. */
  #isCrowded(queue: Queue, bytes: number): boolean {
    const most = MAX_WAITING_FACTOR * this.max;
    if (this.#waitingBytes + bytes <= most) return false;
    return queue.bytes + bytes > most / (this.#queues.size + (queue.bytes === 0 ? 1 : 0));
  }

  #join(tenant: string, { queue, waiter }: QueuePlace): void {
    this.#queues.set(tenant, queue);
    queue.waiters.add(waiter);
    queue.bytes += waiter.bytes;
    this.#waitingBytes += waiter.bytes;
  }

  #leave(tenant: string, { queue, waiter }: QueuePlace): void {
    if (!queue.waiters.delete(waiter)) return;
    queue.bytes -= waiter.bytes;
    this.#waitingBytes -= waiter.bytes;
    if (queue.bytes === 0) this.#queues.delete(tenant);
  }
}
