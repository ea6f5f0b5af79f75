import { startDeadline } from "../../server/runtime/timers.ts";
import { Attempts, type Circuit } from "./circuit.ts";
import type { Client } from "./database.ts";
import { type Failure, makeFailure } from "./database_error.ts";
import { ABORTED_CODE } from "./failure_kind.ts";
import { type CareOptions, type IdleSession, PoolCare } from "./pool_care.ts";
import type { Session } from "./session.ts";
import { SLOW_MS } from "./session_opener.ts";
import { checkSession } from "./statement.ts";

/** The size of a pool, where its sessions come from, and when they are ended. */
export interface PoolOptions extends Partial<Omit<CareOptions, "open">> {
  readonly size: number;
  readonly open: () => Promise<Session | Failure>;
  readonly circuit: Circuit;
  /** Called with a session that is returned while Postgres may still work on its statement. */
  readonly onAbandoned?: (session: Session) => void;
}

/** A session that was idle for this long is checked before it is lent. */
const RESTED_MS = 60_000;
/** Time for a cancelled statement to be answered. */
const CANCELLED_MS = 1000;

/**
 * Sessions that are each taken for one statement, batch or transaction, and returned. Each is in one
 * state, and all together are at most `size`:
 *
 * - **opening**: one of the {@link Attempts} runs.
 * - **idle**: open, and lent next if it was idle for the shortest time.
 * - **replacing**: being opened by {@link PoolCare}.
 * - **busy**: lent to a caller.
 * - **unsettled**: returned while Postgres may still work on its statement, or a cancel request is
 *   pending. Postgres has a connection for it, so it keeps its place.
 * - **ended**: forgotten, and never used again.
 *
 * A caller gets the first session that is idle, returned or opened: it does not wait for a particular
 * attempt. While no session is busy and the circuit is open, it fails at once.
 * @see D7
 * @see docs/decisions/0029-sessions.md
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #care: PoolCare;
  readonly #attempts: Attempts;
  /** The one that was idle for longest comes first. */
  readonly #idle: IdleSession[] = [];
  readonly #busy = new Set<Session>();
  readonly #unsettled = new Set<Session>();
  /** Sessions that were replaced while they are in use. */
  readonly #retired = new WeakSet<Session>();
  /** Callers that wait for a session, in the order of their arrival. */
  readonly #callers = new Set<(result: Session | Failure) => void>();
  #renewedMs = 0;
  #isClosed = false;
  #drained: (() => void) | undefined;

  constructor(options: PoolOptions) {
    const { size, open, idleSize = 0, idleMs, lifeMs, tendMs } = options;
    this.#options = options;
    this.#attempts = new Attempts({
      open,
      circuit: options.circuit,
      isNeeded: (attempts) => attempts < this.#callers.size && this.#count() < size,
      onOpened: (session) => this.#welcome(session),
      onFailed: (failure) => this.#giveUp(failure),
    });
    this.#care = new PoolCare({
      size,
      open,
      idleSize,
      idleMs,
      lifeMs,
      tendMs,
      idle: this.#idle,
      busy: this.#busy,
      count: () => this.#count(),
      isWanted: () => this.#callers.size > 0,
      give: (session) => this.#isOutdated(session) ? session.close() : this.#give(session),
      retire: (session) => this.#retire(session),
    });
  }

  /** Returns a session, or a failure after the given milliseconds. */
  acquire(limitMs: number, client?: Client): Promise<Session | Failure> {
    if (this.#isClosed) return Promise.resolve(makeFailure("unavailable", "CONNECTION_ENDED"));
    const found = this.#takeIdle();
    if (found !== undefined) {
      const { session, sinceMs } = found;
      this.#busy.add(session);
      const isFresh = performance.now() - sinceMs < RESTED_MS;
      if (isFresh || this.#options.lifeMs === undefined) return Promise.resolve(session);
      return this.#acquireRested(session, limitMs, client);
    }
    const reason = this.#busy.size === 0 ? this.#options.circuit.openReason() : undefined;
    if (reason !== undefined) return Promise.resolve(reason);
    const session = this.#wait(limitMs, client);
    this.#attempts.start();
    return session;
  }

  /**
   * Takes a session back, to be used again if it is still open. If Postgres may still work on its
   * statement, or a cancel request is pending, it returns a promise that settles when neither is the
   * case.
   */
  release(session: Session): Promise<void> | undefined {
    this.#busy.delete(session);
    session.watch(undefined);
    let settled: Promise<void> | undefined;
    if (session.released !== undefined) settled = this.#keepUntil(session, session.released);
    else if (session.isOpen() && !session.isCertain()) settled = this.#clear(session);
    else this.#giveBack(session);
    if (this.#busy.size === 0) this.#drained?.();
    return settled;
  }

  /** Replaces all present sessions: none of them is used again. */
  renew(): void {
    this.#renewedMs = performance.now();
    for (const { session } of this.#idle.splice(0)) session.close();
  }

  /**
   * Waits for running statements, at most the given milliseconds, cancels the rest, and ends the
   * sessions.
   */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosed = true;
    this.#attempts.stop();
    this.#care.stop();
    this.#failAll(makeFailure("unavailable", "CONNECTION_ENDED"));
    this.renew();
    for (const session of this.#unsettled) session.destroy();
    await this.#drain(timeoutMs);
    for (const session of this.#busy) session.cancel();
    await this.#drain(CANCELLED_MS);
    for (const session of this.#busy) session.destroy();
  }

  #count(): number {
    return this.#countOpen() + this.#attempts.count + this.#care.opening;
  }

  #countOpen(): number {
    return this.#busy.size + this.#unsettled.size + this.#idle.length;
  }

  /**
   * Reports whether a session was opened before the last renewal, even if it was not in the pool yet.
   */
  #isOutdated({ openedMs }: Session): boolean {
    return this.#isClosed || openedMs < this.#renewedMs;
  }

  #wait(limitMs: number, client: Client | undefined): Promise<Session | Failure> {
    return new Promise((resolve) => {
      const settle = (result: Session | Failure) => {
        this.#callers.delete(settle);
        endDeadline();
        resolve(result);
      };
      const endDeadline = startDeadline({
        ms: limitMs,
        late: () => settle(makeFailure("unavailable", "CONNECT_TIMEOUT")),
        client,
        gone: () => settle(makeFailure("timeout", ABORTED_CODE)),
      });
      this.#callers.add(settle);
    });
  }

  #failAll(failure: Failure): void {
    for (const settle of [...this.#callers]) settle(failure);
  }

  /**
   * Checks a session that was idle for long: a network may silently drop a connection without
   * traffic.
   */
  async #acquireRested(
    session: Session,
    limitMs: number,
    client: Client | undefined,
  ): Promise<Session | Failure> {
    if (await checkSession(session, SLOW_MS)) return session;
    this.renew();
    this.release(session);
    return await this.acquire(limitMs, client);
  }

  /** Takes a new session into the pool, unless others have filled it meanwhile. */
  #welcome(session: Session): void {
    const isFull = this.#countOpen() >= this.#options.size;
    if (isFull || this.#isOutdated(session)) session.close();
    else this.#give(session);
    this.#attempts.start();
  }

  /** Fails all callers if there is nothing left that they could wait for. */
  #giveUp(failure: Failure): void {
    const isLast = this.#busy.size + this.#idle.length + this.#attempts.count === 0;
    if (isLast && this.#options.circuit.openReason() !== undefined) this.#failAll(failure);
    else this.#attempts.start();
  }

  #takeIdle(): IdleSession | undefined {
    for (let found = this.#idle.pop(); found !== undefined; found = this.#idle.pop()) {
      if (found.session.isOpen()) return found;
    }
    return undefined;
  }

  /** Lends a session to the caller that has waited longest; it is idle if none waits. */
  #give(session: Session): void {
    if (!session.isOpen()) return;
    this.#care.start();
    const [first] = this.#callers;
    if (first !== undefined) {
      this.#busy.add(session);
      return first(session);
    }
    this.#idle.push({ session, sinceMs: performance.now() });
    session.watch(() => this.#remove(session));
  }

  /** Removes an idle session; returns false if it is not idle. */
  #remove(session: Session): boolean {
    const place = this.#idle.findIndex((entry) => entry.session === session);
    if (place >= 0) this.#idle.splice(place, 1);
    return place >= 0;
  }

  /** Ends a session, at once or when it is returned. */
  #retire(session: Session): void {
    if (this.#remove(session)) session.close();
    else this.#retired.add(session);
  }

  #giveBack(session: Session): void {
    const nowMs = performance.now();
    const isOver = this.#isOutdated(session) || this.#retired.has(session) ||
      this.#care.isWorn(session, nowMs);
    if (session.isOpen() && isOver) session.close();
    if (session.isOpen()) this.#give(session);
    else this.#attempts.start();
  }

  /** Keeps an abandoned session until Postgres no longer works on it. */
  async #keepUntil(session: Session, released: Promise<void>): Promise<void> {
    if (this.#isClosed) return session.destroy();
    this.#unsettled.add(session);
    this.#options.onAbandoned?.(session);
    await released;
    this.#unsettled.delete(session);
    this.#giveBack(session);
  }

  /**
   * Makes certain that no cancel request can hit a later statement: waits until Postgres has handled
   * them all, and has answered one more statement, which may be hit.
   * @see docs/decisions/0029-sessions.md
   */
  async #clear(session: Session): Promise<void> {
    this.#unsettled.add(session);
    const isHandled = await session.awaitCancels() && !this.#isClosed;
    if (!isHandled || !await checkSession(session, CANCELLED_MS)) session.destroy();
    this.#unsettled.delete(session);
    this.#giveBack(session);
  }

  /** Waits until nothing runs. */
  #drain(timeoutMs: number): Promise<void> {
    if (this.#busy.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      this.#drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
