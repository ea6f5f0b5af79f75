import type { Session } from "../session.ts";
import type { Circuit } from "../circuit.ts";
import { SLOW_MS } from "../session_opener.ts";
import type { Client } from "../database.ts";
import type { Failure } from "../database_error.ts";
import { makeFailure } from "../database_error.ts";
import { checkSession } from "../statement.ts";
import { keepConnecting } from "./connecting.ts";
import { openIdleSessions } from "./idle_sessions.ts";
import { type PoolCare, tendPool } from "./pool_care.ts";
import { CANCELLED_MS, openUnsettledSessions } from "./unsettled_sessions.ts";
import { openWaitingCallers } from "./waiting_callers.ts";

/** Sessions that are each taken for one statement, batch or transaction, and returned. */
export interface Pool {
  /** Returns a session, or a failure after the given milliseconds. */
  readonly acquire: (limitMs: number, client?: Client) => Promise<Session | Failure>;
  /**
   * Takes a session back, to be used again if it is still open. If Postgres may still work on its
   * statement, or a cancel request is pending, it returns a promise that settles when neither is the
   * case.
   */
  readonly release: (session: Session) => Promise<void> | undefined;
  /** Replaces all present sessions: none of them is used again. */
  readonly renew: () => void;
  /**
   * Waits for running statements, at most the given milliseconds, cancels the rest, and ends the
   * sessions.
   */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** The size of a pool, where its sessions come from, and when they are ended. */
export interface PoolOptions extends Partial<Omit<PoolCare, "open">> {
  readonly size: number;
  readonly open: () => Promise<Session | Failure>;
  readonly circuit: Circuit;
  /** Called with a session that is returned while Postgres may still work on its statement. */
  readonly onAbandoned?: (session: Session) => void;
}

/** A session that was idle for this long is checked before it is lent. */
const RESTED_MS = 60_000;

/**
 * Makes a pool. A session is idle, busy, abandoned, being cleared of a cancellation, or being opened;
 * all together are at most `size`. `acquire` gives the session that was idle for the shortest time,
 * or the first one that is returned or opened: it does not wait for a particular attempt to connect.
 * While no session is busy and the circuit is open, it fails at once.
 * @see D7
 * @see docs/decisions/0029-sessions.md
 */
export function openPool(
  { size, open, circuit, onAbandoned, primer, ...care }: PoolOptions,
): Pool {
  const callers = openWaitingCallers();
  const idle = openIdleSessions();
  const busy = new Set<Session>();
  const unsettled = openUnsettledSessions({ onAbandoned, onSettled: giveBack });
  const connecting = keepConnecting({
    ...{ open, circuit, primer, onOpened: welcome, onFailed: giveUp },
    isNeeded: (attempts) => attempts < callers.count() && countSessions() < size,
  });
  const tender = tendPool({
    ...{ idleSize: 0, idleMs: undefined, lifeMs: undefined, primer, open, ...care },
    size,
    idle,
    busy,
    count: countSessions,
    isWanted: () => callers.count() > 0,
    keepAbandoned,
    give: (session, sinceMs) => isOutdated(session) ? session.close() : give(session, sinceMs),
    retire,
  });
  /** Sessions that were replaced while they are in use. */
  const retired = new WeakSet<Session>();
  let renewedMs = 0;
  let closed = false;
  let drained: (() => void) | undefined;

  return { acquire, release, renew, close };

  function countSessions(): number {
    return busy.size + unsettled.count() + idle.all.length + connecting.attempts() + tender.held();
  }

  function acquire(limitMs: number, client?: Client): Promise<Session | Failure> {
    if (closed) return Promise.resolve(makeFailure("unavailable", "CONNECTION_ENDED"));
    const found = idle.take();
    if (found !== undefined) {
      busy.add(found.session);
      const restedMs = performance.now() - found.sinceMs;
      const isFresh = restedMs < RESTED_MS || care.lifeMs === undefined;
      if (isFresh) return Promise.resolve(found.session);
      return acquireRested(found.session, { limitMs, client });
    }
    const reason = busy.size === 0 ? circuit.openReason() : undefined;
    if (reason !== undefined) return Promise.resolve(reason);
    const session = callers.wait(limitMs, client);
    connecting.start();
    return session;
  }

  /**
   * Checks a session that was idle for long: a network may silently drop a connection without
   * traffic.
   */
  async function acquireRested(
    session: Session,
    { limitMs, client }: { readonly limitMs: number; readonly client: Client | undefined },
  ): Promise<Session | Failure> {
    if (await checkSession(session, SLOW_MS)) return session;
    renew();
    release(session);
    return await acquire(limitMs, client);
  }

  /** Takes a new session into the pool, unless others have filled it meanwhile. */
  function welcome(session: Session): void {
    keepAbandoned(session);
    const isFull = busy.size + unsettled.count() + idle.all.length >= size;
    if (isFull || isOutdated(session)) session.close();
    else if (session.isOpen()) give(session, performance.now());
    connecting.start();
  }

  /** Fails all callers if there is nothing left that they could wait for. */
  function giveUp(failure: Failure): void {
    const isLast = busy.size + idle.all.length + connecting.attempts() === 0;
    if (isLast && circuit.openReason() !== undefined) callers.failAll(failure);
    else connecting.start();
  }

  function give(session: Session, sinceMs: number): void {
    tender.start();
    if (callers.serve(session)) busy.add(session);
    else idle.add({ session, sinceMs });
  }

  function release(session: Session): Promise<void> | undefined {
    busy.delete(session);
    session.watch(undefined);
    let settled: Promise<void> | undefined;
    if (session.released !== undefined) settled = unsettled.keep(session, session.released);
    else if (session.isOpen() && !session.isCertain()) settled = unsettled.clear(session);
    else giveBack(session);
    if (busy.size === 0) drained?.();
    return settled;
  }

  function giveBack(session: Session): void {
    const nowMs = performance.now();
    if (session.isOpen() && isOver(session, nowMs)) session.close();
    if (session.isOpen()) give(session, nowMs);
    else connecting.start();
  }

  function isOver(session: Session, nowMs: number): boolean {
    return isOutdated(session) || retired.has(session) || tender.isWorn(session, nowMs);
  }

  /**
   * Reports whether a session was opened before the last renewal, even if it was not in the pool yet.
   */
  function isOutdated({ openedMs }: Session): boolean {
    return closed || openedMs < renewedMs;
  }

  function retire(session: Session): void {
    if (idle.remove(session)) session.close();
    else retired.add(session);
  }

  /** Keeps the place of a session that is being prepared, since Postgres may still work on it. */
  function keepAbandoned(session: Session): void {
    if (session.released !== undefined) void unsettled.keep(session, session.released);
  }

  function renew(): void {
    renewedMs = performance.now();
    idle.close();
  }

  async function close(timeoutMs: number): Promise<void> {
    closed = true;
    connecting.stop();
    tender.stop();
    callers.failAll(makeFailure("unavailable", "CONNECTION_ENDED"));
    renew();
    unsettled.close();
    await drain(timeoutMs);
    for (const session of busy) session.cancel();
    await drain(CANCELLED_MS);
    for (const session of busy) session.destroy();
  }

  /** Waits until nothing runs. */
  function drain(timeoutMs: number): Promise<void> {
    if (busy.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, timeoutMs);
      drained = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
