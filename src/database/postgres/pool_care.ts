import type { Failure } from "./database_error.ts";
import type { Session } from "./session.ts";

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
  /** Milliseconds between two tasks. */
  readonly tendMs?: number | undefined;
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
  readonly give: (session: Session) => void;
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
 * - open one that is kept, unless the server has few connections left;
 * - replace an old one; the new one is opened first, so for a moment there is one more.
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
  #opening = 0;
  #pausedUntilMs = 0;
  #isStopped = false;

  constructor(pool: Tended) {
    this.#pool = pool;
    this.#idleMs = pool.idleMs ?? Infinity;
    this.#lifeMs = pool.lifeMs ?? Infinity;
  }

  /** Sessions that it is opening. */
  get opening(): number {
    return this.#opening;
  }

  /** Called when there is a session. */
  start(): void {
    const { idleSize, tendMs = TEND_MS } = this.#pool;
    const hasNoTask = this.#idleMs === Infinity && this.#lifeMs === Infinity && idleSize === 0;
    if (!this.#isStopped && !hasNoTask) this.#timer ??= setTimeout(() => this.#tend(), tendMs);
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
    const { count, idle, idleSize, retire, size } = this.#pool;
    const present = count();
    const rested = idle.find(({ sinceMs }) => nowMs - sinceMs > this.#idleMs);
    if (rested !== undefined && present > idleSize) return retire(rested.session);
    if (nowMs < this.#pausedUntilMs) return;
    if (present < idleSize) return await this.#openAnother();
    const old = this.#findOld(nowMs);
    if (old !== undefined && present <= size) await this.#openAnother(old);
  }

  #findOld(nowMs: number): Session | undefined {
    const { busy, idle } = this.#pool;
    const isOld = ({ openedMs }: Session) => nowMs - openedMs > this.#lifeMs;
    return idle.find(({ session }) => isOld(session))?.session ?? [...busy].find(isOld);
  }

  async #openAnother(old?: Session): Promise<void> {
    const { count, give, idleSize, open, retire } = this.#pool;
    this.#opening++;
    const session = await open();
    this.#opening--;
    if ("kind" in session || session.free < LEFT_FREE) {
      this.#pausedUntilMs = performance.now() + PAUSE_MS;
    }
    if ("kind" in session || !session.isOpen()) return;
    if (old !== undefined) retire(old);
    // Others may have been opened meanwhile.
    const isSpare = old === undefined && count() >= idleSize;
    if (this.#isStopped || isSpare) session.close();
    else give(session);
  }
}
