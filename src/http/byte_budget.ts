import { startDeadline } from "../runtime/timers.ts";

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
  const share = max / 2;
  const open = max - max / 5;
  const held = new Map<string, number>();
  const queues = new Map<string, Queue>();
  let taken = 0;
  let waitingBytes = 0;

  function add(tenant: string, bytes: number): void {
    const now = (held.get(tenant) ?? 0) + bytes;
    taken += bytes;
    if (now === 0) held.delete(tenant);
    else held.set(tenant, now);
  }

  function fits(tenant: string, bytes: number): boolean {
    const own = held.get(tenant) ?? 0;
    if (own === 0) return taken + bytes <= max;
    return own + bytes <= share && taken + bytes <= open;
  }

  function hold(tenant: string, bytes: number): Release {
    add(tenant, bytes);
    let released = false;
    return () => {
      if (released) return;
      released = true;
      add(tenant, -bytes);
      admitWaiters();
    };
  }

  function admitWaiters(): void {
    for (const tenant of [...queues.keys()].sort(byHeld)) {
      for (const waiter of queues.get(tenant)?.waiters ?? []) {
        if (fits(tenant, waiter.bytes)) waiter.enter();
        // The next tenant holds nothing: the rest of the budget is kept until its bytes fit.
        else if (!held.has(tenant)) return;
        else break;
      }
    }
  }

  function byHeld(one: string, other: string): number {
    return (held.get(one) ?? 0) - (held.get(other) ?? 0);
  }

  /** Reports whether the queues are full and the tenant has more than an equal share of them. */
  function isCrowded(queue: Queue, bytes: number): boolean {
    const most = MAX_WAITING_FACTOR * max;
    if (waitingBytes + bytes <= most) return false;
    return queue.bytes + bytes > most / (queues.size + (queue.bytes === 0 ? 1 : 0));
  }

  function join(tenant: string, { queue, waiter }: QueuePlace): void {
    queues.set(tenant, queue);
    queue.waiters.add(waiter);
    queue.bytes += waiter.bytes;
    waitingBytes += waiter.bytes;
  }

  function leave(tenant: string, { queue, waiter }: QueuePlace): void {
    if (!queue.waiters.delete(waiter)) return;
    queue.bytes -= waiter.bytes;
    waitingBytes -= waiter.bytes;
    if (queue.bytes === 0) queues.delete(tenant);
  }

  return {
    max,
    take(bytes, tenant) {
      const counted = Math.min(bytes, share);
      return fits(tenant, counted) ? hold(tenant, counted) : undefined;
    },
    await(bytes, { tenant, waitMs, client }) {
      const counted = Math.min(bytes, share);
      const queue = queues.get(tenant) ?? { waiters: new Set(), bytes: 0 };
      if (isCrowded(queue, counted)) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const end = (release?: Release) => {
          endDeadline();
          leave(tenant, { queue, waiter });
          resolve(release);
        };
        const waiter: Waiter = { bytes: counted, enter: () => end(hold(tenant, counted)) };
        const endDeadline = startDeadline({ ms: waitMs, late: () => end(), client });
        join(tenant, { queue, waiter });
        admitWaiters();
      });
    },
  };
}
