import { startDeadline } from "../runtime/deadline.ts";

/** Bytes that are shared among tenants. */
export interface Room {
  /** Takes so many at once, and gives what gives them back; undefined when there is no room. */
  readonly take: (bytes: number, tenant: string) => (() => void) | undefined;
  /** Waits for room; undefined when there was none in time, or the client has gone. */
  readonly await: (bytes: number, entrant: Entrant) => Promise<(() => void) | undefined>;
}

/** For whom room is taken, and how long it waits. */
export interface Entrant {
  readonly tenant: string;
  readonly waitMs: number;
  readonly client: { readonly signal: AbortSignal };
}

/** Bytes that wait may be so many times those that there is room for: Bun reads them nonetheless. */
const MOST_WAITING = 4;

/** One that waits. */
interface Waiter {
  readonly bytes: number;
  readonly enter: () => void;
}

/** One that joins the line of its tenant, or leaves it. */
interface Joining {
  readonly line: Line;
  readonly waiter: Waiter;
}

/** Those of one tenant that wait, in the order of arrival. */
interface Line {
  readonly waiters: Set<Waiter>;
  bytes: number;
}

/**
 * Makes room for `max` bytes. A tenant takes half of it at most, and a fifth is kept for tenants that
 * hold nothing; of those that wait, the first of the tenant that holds the least is next. Four times as
 * many bytes may wait; beyond that each tenant has an equal share of them. What is larger than half
 * counts as half, so that it can be served at all.
 * @see docs/decisions/0206-large-bodies-and-slow-readers.md
 */
export function openRoom(max: number): Room {
  const share = max / 2;
  const open = max - max / 5;
  const held = new Map<string, number>();
  const waiting = new Map<string, Line>();
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

  function hold(tenant: string, bytes: number): () => void {
    add(tenant, bytes);
    let back = false;
    return () => {
      if (back) return;
      back = true;
      add(tenant, -bytes);
      admit();
    };
  }

  function admit(): void {
    for (const tenant of [...waiting.keys()].sort(byHeld)) {
      for (const waiter of waiting.get(tenant)?.waiters ?? []) {
        if (fits(tenant, waiter.bytes)) waiter.enter();
        // What is left would go to smaller ones for ever.
        else if (!held.has(tenant)) return;
        else break;
      }
    }
  }

  function byHeld(one: string, other: string): number {
    return (held.get(one) ?? 0) - (held.get(other) ?? 0);
  }

  /** Tells whether too many wait, and the tenant has more than an equal share of them. */
  function isCrowded(line: Line, bytes: number): boolean {
    const most = MOST_WAITING * max;
    if (waitingBytes + bytes <= most) return false;
    return line.bytes + bytes > most / (waiting.size + (line.bytes === 0 ? 1 : 0));
  }

  function join(tenant: string, { line, waiter }: Joining): void {
    waiting.set(tenant, line);
    line.waiters.add(waiter);
    line.bytes += waiter.bytes;
    waitingBytes += waiter.bytes;
  }

  function leave(tenant: string, { line, waiter }: Joining): void {
    if (!line.waiters.delete(waiter)) return;
    line.bytes -= waiter.bytes;
    waitingBytes -= waiter.bytes;
    if (line.bytes === 0) waiting.delete(tenant);
  }

  return {
    take(bytes, tenant) {
      const counted = Math.min(bytes, share);
      return fits(tenant, counted) ? hold(tenant, counted) : undefined;
    },
    await(bytes, { tenant, waitMs, client }) {
      const counted = Math.min(bytes, share);
      const line = waiting.get(tenant) ?? { waiters: new Set(), bytes: 0 };
      if (isCrowded(line, counted)) return Promise.resolve(undefined);
      return new Promise((resolve) => {
        const end = (room?: () => void) => {
          endDeadline();
          leave(tenant, { line, waiter });
          resolve(room);
        };
        const waiter: Waiter = { bytes: counted, enter: () => end(hold(tenant, counted)) };
        const endDeadline = startDeadline({ ms: waitMs, late: () => end(), client });
        join(tenant, { line, waiter });
        admit();
      });
    },
  };
}
