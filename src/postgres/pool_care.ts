import type { Failure } from "./database_error.ts";
import type { PendingQuery, Row } from "./driver.ts";
import type { Session } from "./session.ts";
import { settle } from "./statement.ts";
import type { Statements } from "./statements.ts";

/** A session that is not in use. */
export interface IdleSession {
  readonly session: Session;
  readonly sinceMs: number;
}

/** How the idle sessions of a pool are cared for. */
export interface CareOptions {
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
  readonly tendMs?: number | undefined;
}

/** Prepares the most used statements on a session, so that no request has to wait for that. */
export interface Primer {
  /** Reports whether there is nothing to prepare. */
  readonly isPrimed: (session: Session) => boolean;
  readonly prime: (session: Session) => Promise<void>;
}

/** The part of the pool that its care uses. */
interface Tended extends CareOptions {
  /** Most sessions; one more while a replaced one is in use. */
  readonly size: number;
  /** The one that was idle for longest comes first. */
  readonly idle: readonly IdleSession[];
  readonly busy: Iterable<Session>;
  /** All sessions of the pool, the ones that are being opened included. */
  readonly count: () => number;
  /** Reports whether a caller waits for a session. */
  readonly isWanted: () => boolean;
  /** Removes an idle session. */
  readonly remove: (session: Session) => void;
  readonly give: (session: Session, sinceMs: number) => void;
  /** Keeps the place of a session that Postgres may still work on; does nothing for another. */
  readonly keepAbandoned: (session: Session) => void;
  /** Ends a session, at once or when it is returned. */
  readonly retire: (session: Session) => void;
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
export class PoolCare {
  readonly #pool: Tended;
  readonly #idleMs: number;
  readonly #lifeMs: number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #held = 0;
  #pausedUntilMs = 0;
  #isStopped = false;

  constructor(pool: Tended) {
    this.#pool = pool;
    this.#idleMs = pool.idleMs ?? Infinity;
    this.#lifeMs = pool.lifeMs ?? Infinity;
  }

  /** Sessions that it is opening or priming. */
  get held(): number {
    return this.#held;
  }

  /** Called when there is a session. */
  start(): void {
    const { primer, tendMs = TEND_MS } = this.#pool;
    const isIdleForever = this.#idleMs === Infinity && primer === undefined;
    if (!this.#isStopped && !isIdleForever) this.#timer ??= setTimeout(() => this.#tend(), tendMs);
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Reports whether a session is so old that it is not used again, although nothing has replaced it. */
  isWorn({ openedMs }: Session, nowMs: number): boolean {
    return nowMs - openedMs > MAX_LIVES * this.#lifeMs;
  }

  async #tend(): Promise<void> {
    const { count, isWanted } = this.#pool;
    if (count() > 0 && !isWanted()) await this.#tendOne(performance.now());
    this.#timer = undefined;
    if (count() > 0) this.start();
  }

  async #tendOne(nowMs: number): Promise<void> {
    const { count, idle, idleSize, primer, retire, size } = this.#pool;
    const present = count();
    const rested = idle.find(({ sinceMs }) => nowMs - sinceMs > this.#idleMs);
    if (rested !== undefined && present > idleSize) return retire(rested.session);
    if (nowMs >= this.#pausedUntilMs) {
      if (present < idleSize) return await this.#openAnother();
      const old = this.#findOld(nowMs);
      if (old !== undefined && present <= size) return await this.#openAnother(old);
    }
    const unprimed = idle.find(({ session }) => primer?.isPrimed(session) === false);
    if (unprimed !== undefined) await this.#prime(unprimed);
  }

  #findOld(nowMs: number): Session | undefined {
    const { busy, idle } = this.#pool;
    const isOld = ({ openedMs }: Session) => nowMs - openedMs > this.#lifeMs;
    return idle.find(({ session }) => isOld(session))?.session ?? [...busy].find(isOld);
  }

  async #openAnother(old?: Session): Promise<void> {
    const { count, give, idleSize, keepAbandoned, open, primer, retire } = this.#pool;
    this.#held++;
    const session = await open();
    if (!("kind" in session)) await primer?.prime(session);
    this.#held--;
    if ("kind" in session || session.free < LEFT_FREE) {
      this.#pausedUntilMs = performance.now() + PAUSE_MS;
    }
    if ("kind" in session) return;
    if (!session.isOpen()) return keepAbandoned(session);
    if (old !== undefined) retire(old);
    // Others may have been opened meanwhile.
    const isSpare = old === undefined && count() >= idleSize;
    if (this.#isStopped || isSpare) session.close();
    else give(session, performance.now());
  }

  async #prime({ session, sinceMs }: IdleSession): Promise<void> {
    const { give, keepAbandoned, primer, remove } = this.#pool;
    remove(session);
    this.#held++;
    await primer?.prime(session);
    this.#held--;
    if (session.isOpen()) give(session, sinceMs);
    else keepAbandoned(session);
  }
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
