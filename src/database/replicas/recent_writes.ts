import type { Database } from "../postgres/database.ts";

/** The tokens that have written lately, on any instance. */
export interface RecentWrites {
  /** Remembers a write, and announces it to the other instances. Settles after that; never rejects. */
  readonly note: (tokenId: string) => Promise<void>;
  readonly isRecent: (tokenId: string) => boolean;
}

/** How long a write is remembered, and the clock. */
export interface RecentWritesOptions {
  readonly stickyMs: number;
  readonly now?: (() => number) | undefined;
}

const CHANNEL = "rowgate_writes";
/** At this number of tokens, expired ones are removed. */
const SWEEP_SIZE = 10_000;
/** A token that keeps writing is announced this many times while a write is remembered. */
const AGAIN = 4;

/**
 * Remembers which tokens have written, for so many milliseconds. Other instances learn of it by
 * NOTIFY, which needs no table and no right. Postgres commits notifications one at a time, so a token
 * that keeps writing is announced only now and then, and the others remember it longer by that
 * interval.
 * @see M10
 */
export function openRecentWrites(
  database: Pick<Database, "run" | "listen">,
  { stickyMs, now = () => performance.now() }: RecentWritesOptions,
): RecentWrites {
  const until = new Map<string, number>();
  const announced = new Map<string, { readonly atMs: number; readonly done: Promise<void> }>();
  const againMs = stickyMs / AGAIN;
  let allUntilMs = -Infinity;
  let sweepSize = SWEEP_SIZE;
  if (stickyMs === 0) return { note: () => Promise.resolve(), isRecent: () => false };

  function remember(tokenId: string, ms: number): void {
    const untilMs = now() + ms;
    until.set(tokenId, Math.max(untilMs, until.get(tokenId) ?? 0));
    if (until.size > sweepSize) sweep();
  }

  function sweep(): void {
    const nowMs = now();
    for (const [tokenId, untilMs] of until) {
      if (untilMs > nowMs) continue;
      until.delete(tokenId);
      announced.delete(tokenId);
    }
    sweepSize = Math.max(SWEEP_SIZE, 2 * until.size);
  }

  function note(tokenId: string): Promise<void> {
    remember(tokenId, stickyMs);
    const before = announced.get(tokenId);
    if (before !== undefined && now() - before.atMs < againMs) return before.done;
    const done = announce(tokenId);
    announced.set(tokenId, { atMs: now(), done });
    return done;
  }

  async function announce(tokenId: string): Promise<void> {
    try {
      await database.run(
        (sql) => sql`select pg_catalog.pg_notify(${CHANNEL}::text, ${tokenId}::text)::text`,
        { write: false },
      );
    } catch {
      // If the primary is unavailable, nothing was written, or the position tells where.
      announced.delete(tokenId);
    }
  }

  function hear(tokenId: string): void {
    if (tokenId === "") allUntilMs = now() + stickyMs + againMs;
    else remember(tokenId, stickyMs + againMs);
  }

  database.listen(CHANNEL, hear).catch(() => {});
  return {
    note,
    isRecent(tokenId) {
      const nowMs = now();
      return nowMs < allUntilMs || (until.get(tokenId) ?? 0) > nowMs;
    },
  };
}
