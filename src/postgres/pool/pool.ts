import type { Session } from "../session.ts";
import type { Circuit } from "../circuit.ts";
import { PAUSE_MS } from "../circuit.ts";
import { SLOW_MS } from "../session_opener.ts";
import { startDeadline } from "../../runtime/timers.ts";
import type { Client } from "../database.ts";
import type { Failure } from "../database_error.ts";
import { makeFailure } from "../database_error.ts";
import { type IdleSession, type PoolCare, tendPool } from "./pool_care.ts";
import { checkSession } from "../statement.ts";

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

/** Time for a cancelled statement to be answered. */
const CANCELLED_MS = 1000;
/** A session that was idle for this long is checked before it is lent. */
const RESTED_MS = 60_000;

/**
 * Makes a pool. A session is idle, busy, abandoned, being cleared of a cancellation, or being opened;
 * all together are at most `size`. `acquire` gives the session that was idle for the shortest time,
 * or the first one that is returned or opened: it does not wait for a particular attempt to connect.
 * While no session is busy and the circuit is open, it fails at once.
 * @see D7
 * @see docs/decisions/0054-kept-sessions.md
 */
export function openPool(
  { size, open, circuit, onAbandoned, primer, ...care }: PoolOptions,
): Pool {
  const idle: IdleSession[] = [];
  const busy = new Set<Session>();
  /** They count like busy ones, since Postgres has a connection for each. */
  const unsettled = new Set<Session>();
  const waiting = new Set<(result: Session | Failure) => void>();
  let attempts = 0;
  let renewedMs = 0;
  let closed = false;
  let drained: (() => void) | undefined;
  let paused: ReturnType<typeof setTimeout> | undefined;
  /** Sessions that were replaced while they are in use. */
  const retired = new WeakSet<Session>();
  const tender = tendPool({
    ...{ idleSize: 0, idleMs: undefined, lifeMs: undefined, primer, open, ...care },
    size,
    idle,
    busy,
    count: countSessions,
    isWanted: () => waiting.size > 0,
    take: (entry) => void idle.splice(idle.indexOf(entry), 1),
    keepAbandoned,
    give: (session, sinceMs) => isOutdated(session) ? session.close() : give(session, sinceMs),
    retire,
  });

  function countSessions(): number {
    return busy.size + unsettled.size + idle.length + attempts + tender.held();
  }

  function acquire(limitMs: number, client?: Client): Promise<Session | Failure> {
    if (closed) return Promise.resolve(makeFailure("unavailable", "CONNECTION_ENDED"));
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
      const { session, sinceMs } = found;
      if (!session.isOpen()) continue;
      busy.add(session);
      const restedMs = performance.now() - sinceMs;
      if (restedMs < RESTED_MS || care.lifeMs === undefined) return Promise.resolve(session);
      return acquireRested(session, { limitMs, client });
    }
    const reason = busy.size === 0 ? circuit.openReason() : undefined;
    return reason === undefined ? wait(limitMs, client) : Promise.resolve(reason);
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

  function wait(ms: number, client?: Client): Promise<Session | Failure> {
    return new Promise((resolve) => {
      const settle = (result: Session | Failure) => {
        waiting.delete(settle);
        endDeadline();
        resolve(result);
      };
      const endDeadline = startDeadline({
        ms,
        late: () => settle(makeFailure("unavailable", "CONNECT_TIMEOUT")),
        client,
        gone: () => settle(makeFailure("timeout", "ABORTED")),
      });
      waiting.add(settle);
      connect();
    });
  }

  /** Opens a session for each caller that waits, as far as the size and the circuit allow. */
  function connect(): void {
    while (attempts < waiting.size && countSessions() < size) {
      if (circuit.mayAttempt()) void attempt();
      else {
        paused ??= setTimeout(() => {
          paused = undefined;
          connect();
        }, PAUSE_MS);
        return;
      }
    }
  }

  async function attempt(): Promise<void> {
    attempts++;
    let counted = true;
    const discount = () => {
      if (counted) attempts--;
      counted = false;
    };
    const timer = setTimeout(() => {
      discount();
      circuit.strained();
      connect();
    }, SLOW_MS);
    const result = await open();
    clearTimeout(timer);
    if (!("kind" in result)) {
      circuit.succeeded();
      await primer?.prime(result);
      keepAbandoned(result);
    }
    discount();
    if ("kind" in result) {
      circuit.failed(result);
      if (busy.size + idle.length + attempts > 0) return connect();
      if (circuit.openReason() === undefined) return connect();
      for (const settle of [...waiting]) settle(result);
      return;
    }
    const isFull = busy.size + unsettled.size + idle.length >= size;
    if (isFull || isOutdated(result)) result.close();
    else if (result.isOpen()) give(result, performance.now());
    connect();
  }

  function give(session: Session, sinceMs: number): void {
    tender.start();
    const [first] = waiting;
    if (first !== undefined) {
      busy.add(session);
      return first(session);
    }
    const entry = { session, sinceMs };
    idle.push(entry);
    session.watch(() => {
      const place = idle.indexOf(entry);
      if (place >= 0) idle.splice(place, 1);
    });
  }

  function release(session: Session): Promise<void> | undefined {
    busy.delete(session);
    session.watch(undefined);
    let settled: Promise<void> | undefined;
    if (session.released !== undefined) settled = awaitAbandoned(session, session.released);
    else if (session.isOpen() && !session.isCertain()) settled = clear(session);
    else giveBack(session);
    if (busy.size === 0) drained?.();
    return settled;
  }

  function giveBack(session: Session): void {
    const nowMs = performance.now();
    if (session.isOpen() && isOver(session, nowMs)) session.close();
    if (session.isOpen()) give(session, nowMs);
    else connect();
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
    const place = idle.findIndex((entry) => entry.session === session);
    if (place < 0) retired.add(session);
    else {
      idle.splice(place, 1);
      session.close();
    }
  }

  /** Keeps the place of a session that is being prepared, since Postgres may still work on it. */
  function keepAbandoned(session: Session): void {
    if (session.released !== undefined) void awaitAbandoned(session, session.released);
  }

  async function awaitAbandoned(session: Session, ended: Promise<void>): Promise<void> {
    if (closed) return session.destroy();
    unsettled.add(session);
    onAbandoned?.(session);
    await ended;
    unsettled.delete(session);
    connect();
  }

  /**
   * Makes certain that no cancel request can hit a later statement: waits until Postgres has handled
   * them all, and has answered one more statement, which may be hit.
   * @see docs/decisions/0055-cancelled-sessions.md
   */
  async function clear(session: Session): Promise<void> {
    unsettled.add(session);
    const isHandled = await session.awaitCancels() && !closed;
    if (!isHandled || !await checkSession(session, CANCELLED_MS)) session.destroy();
    unsettled.delete(session);
    giveBack(session);
  }

  function renew(): void {
    renewedMs = performance.now();
    for (const { session } of idle.splice(0)) session.close();
  }

  async function close(timeoutMs: number): Promise<void> {
    closed = true;
    clearTimeout(paused);
    tender.stop();
    for (const settle of [...waiting]) settle(makeFailure("unavailable", "CONNECTION_ENDED"));
    renew();
    for (const session of unsettled) session.destroy();
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

  return { acquire, release, renew, close };
}
