import type { Failure } from "../database_error.ts";
import type { PendingQuery, Row } from "../driver.ts";
import type { Session } from "../session.ts";
import { settle } from "../statement.ts";
import type { Statements } from "../statements.ts";
import type { IdleSession, IdleSessions } from "./idle_sessions.ts";

/** How the idle sessions of a pool are cared for. */
export interface PoolCare {
  /**
   * Number of sessions that are kept open while there is nothing to do, and opened before they are
   * needed.
   */
  readonly idleSize: number;
  /** Milliseconds after which an idle session beyond those is ended; never when undefined. */
  readonly idleMs: number | undefined;
  /** Milliseconds after which a session is replaced; never when undefined. */
  readonly lifeMs: number | undefined;
  readonly open: () => Promise<Session | Failure>;
  readonly primer: Primer | undefined;
  /** Milliseconds between two tasks. */
  readonly tendMs?: number;
}

/** Prepares the most used statements on a session, so that no request has to wait for that. */
export interface Primer {
  /** Reports whether there is nothing to prepare. */
  readonly isPrimed: (session: Session) => boolean;
  readonly prime: (session: Session) => Promise<void>;
}

/** The part of the pool that its care uses. */
export interface Tended extends PoolCare {
  /** Most sessions; one more while a replaced one is in use. */
  readonly size: number;
  readonly idle: IdleSessions;
  readonly busy: Iterable<Session>;
  /** All sessions of the pool, the ones that are being opened included. */
  readonly count: () => number;
  /** Reports whether a caller waits for a session. */
  readonly isWanted: () => boolean;
  readonly give: (session: Session, sinceMs: number) => void;
  /** Keeps the place of a session that Postgres may still work on; does nothing for another. */
  readonly keepAbandoned: (session: Session) => void;
  /** Ends a session, at once or when it is returned. */
  readonly retire: (session: Session) => void;
}

/** Cares for the idle sessions of a pool. */
export interface Tender {
  /** Called when there is a session. */
  readonly start: () => void;
  readonly stop: () => void;
  /** Sessions that it is opening or priming. */
  readonly held: () => number;
  /**
   * Reports whether a session is so old that it is not used again, although nothing has replaced it.
   */
  readonly isWorn: (session: Session, nowMs: number) => boolean;
}

/** Time between two tasks, so that they are never in the way of requests. */
const TEND_MS = 1000;
/** Pause after a failed attempt to open a session, or if the server has few connections left. */
const PAUSE_MS = 60_000;
/** The part of the server's connections that is left to others. */
const LEFT_FREE = 0.2;
/** A session that could not be replaced is used up to this many lifetimes. */
const MAX_LIVES = 2;

/**
 * Cares for the idle sessions of a pool in the background. Once a second it does the first of these that
 * there is a reason for:
 *
 * - end the session that was idle for longest, beyond those that are kept;
 * - open one that is kept, and prime it, unless the server has few connections left;
 * - replace an old one; the new one is opened first, so for a moment there is one more;
 * - prime one that lacks statements which are used.
 *
 * It does nothing while a caller waits for a session, and nothing while there is no session: the first
 * one is opened by the first request.
 * @see docs/decisions/0029-sessions.md
 */
export function tendPool(pool: Tended): Tender {
  const { idle, idleSize, idleMs = Infinity, lifeMs = Infinity, open, primer, tendMs = TEND_MS } =
    pool;
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Sessions that are being opened or primed. */
  let held = 0;
  let pausedUntilMs = 0;
  let stopped = false;

  async function tend(): Promise<void> {
    if (pool.count() > 0 && !pool.isWanted()) await tendOne(performance.now());
    timer = undefined;
    if (pool.count() > 0) start();
  }

  async function tendOne(nowMs: number): Promise<void> {
    const count = pool.count();
    const rested = idle.all.find(({ sinceMs }) => nowMs - sinceMs > idleMs);
    if (rested !== undefined && count > idleSize) return pool.retire(rested.session);
    if (nowMs >= pausedUntilMs) {
      if (count < idleSize) return await openAnother();
      const old = findOld(nowMs);
      if (old !== undefined && count <= pool.size) return await openAnother(old);
    }
    const unprimed = idle.all.find(({ session }) => primer?.isPrimed(session) === false);
    if (unprimed !== undefined) await prime(unprimed);
  }

  function findOld(nowMs: number): Session | undefined {
    const isOld = ({ openedMs }: Session) => nowMs - openedMs > lifeMs;
    return idle.all.find(({ session }) => isOld(session))?.session ?? [...pool.busy].find(isOld);
  }

  async function openAnother(old?: Session): Promise<void> {
    held++;
    const session = await open();
    if (!("kind" in session)) await primer?.prime(session);
    held--;
    if ("kind" in session || session.free < LEFT_FREE) {
      pausedUntilMs = performance.now() + PAUSE_MS;
    }
    if ("kind" in session) return;
    if (!session.isOpen()) return pool.keepAbandoned(session);
    if (old !== undefined) pool.retire(old);
    // Others may have been opened meanwhile.
    const isSpare = old === undefined && pool.count() >= idleSize;
    if (stopped || isSpare) session.close();
    else pool.give(session, performance.now());
  }

  async function prime(entry: IdleSession): Promise<void> {
    idle.remove(entry.session);
    held++;
    await primer?.prime(entry.session);
    held--;
    if (entry.session.isOpen()) pool.give(entry.session, entry.sinceMs);
    else pool.keepAbandoned(entry.session);
  }

  function start(): void {
    const isIdleForever = idleMs === Infinity && primer === undefined;
    if (!stopped && !isIdleForever) timer ??= setTimeout(tend, tendMs);
  }

  return {
    start,
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
    held: () => held,
    isWorn: ({ openedMs }, nowMs) => nowMs - openedMs > MAX_LIVES * lifeMs,
  };
}

/** Most statements that are prepared at a time; the others follow. */
const PRIME_STATEMENTS = 32;
const PRIME_MS = 100;
/** Time within which Postgres must have answered. */
const ANSWER_MS = 1000;
/** SQLSTATE of a statement that has waited for a lock too long. */
const LOCKED = "55P03";

/**
 * Creates the primer that prepares the statements of a cache. Preparing takes a lock, so it happens
 * in a transaction that does not wait for locks, and pauses for a minute if a table was locked.
 */
export function createPrimer(cache: Statements): Primer {
  let pausedUntilMs = 0;
  const isPaused = () => performance.now() < pausedUntilMs;

  async function prime(session: Session): Promise<void> {
    const { sql } = session;
    const endMs = performance.now() + PRIME_MS;
    let begun = false;
    for (const prepare of cache.prepareMissing(sql, PRIME_STATEMENTS)) {
      if (!begun) await run(session, sql`begin; set local lock_timeout = 10`.simple());
      const { failure } = await settle(session, prepare(), { deadlineMs: ANSWER_MS });
      begun = failure === undefined;
      if (!begun) await run(session, sql`rollback`.simple());
      if (failure?.code === LOCKED || !session.isOpen()) {
        pausedUntilMs = performance.now() + PAUSE_MS;
      }
      if (isPaused() || performance.now() > endMs) break;
    }
    if (begun) await run(session, sql`rollback`.simple());
  }

  return {
    isPrimed: ({ sql }) => isPaused() || cache.prepareMissing(sql, 1).length === 0,
    prime: (session) => isPaused() ? Promise.resolve() : prime(session),
  };
}

/** Runs a command, and closes the session if it fails. */
async function run(session: Session, command: PendingQuery<Row[]>): Promise<void> {
  if (!session.isOpen()) return;
  const { failure } = await settle(session, command, { deadlineMs: ANSWER_MS });
  if (failure !== undefined && session.released === undefined) session.destroy();
}
