import type { Session } from "./session.ts";
import type { Circuit } from "./circuit.ts";
import { PAUSE_MS } from "./circuit.ts";
import { SLOW_MS } from "./session_opener.ts";
import { startDeadline } from "../runtime/timers.ts";
import type { Client } from "./database.ts";
import type { Failure } from "./database_error.ts";
import { makeFailure } from "./database_error.ts";

/** Sessions that are each taken for one statement, batch or transaction, and returned. */
export interface Pool {
  /** Gives a session, or a failure after the given milliseconds. */
  readonly acquire: (limitMs: number, client?: Client) => Promise<Session | Failure>;
  /** Returns a session, which is used again if it is still open. */
  readonly release: (session: Session) => void;
  /** Uses none of the present sessions again. */
  readonly renew: () => void;
  /** Waits for what runs, at most the given milliseconds, cancels it, and ends the sessions. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** The size of a pool, where its sessions come from, and when they are ended. */
export interface PoolOptions {
  readonly size: number;
  readonly open: () => Promise<Session | Failure>;
  readonly circuit: Circuit;
  /** Called with a session that is returned while Postgres may still work on its statement. */
  readonly onAbandoned?: (session: Session) => void;
  /** Milliseconds after which an idle session, and any session, is ended; never when undefined. */
  readonly idleMs?: number | undefined;
  readonly lifeMs?: number | undefined;
}

const SWEEP_MS = 10_000;
/** How long a cancelled statement has to be answered. */
const CANCELLED_MS = 1000;

/**
 * Makes a pool. A session is idle, busy, abandoned or being opened, and all of them together are at most
 * `size`. `acquire` gives an idle session, or the first one that is returned or opened: it does not wait
 * for a certain attempt to connect. While no session is busy and the circuit is open, it fails at once.
 * @see D7
 */
export function openPool({ size, open, circuit, onAbandoned, idleMs, lifeMs }: PoolOptions): Pool {
  const idle: { readonly session: Session; readonly sinceMs: number }[] = [];
  const busy = new Set<Session>();
  /** They count like busy ones: Postgres has a connection for each. */
  const abandoned = new Set<Session>();
  const waiting = new Set<(result: Session | Failure) => void>();
  let attempts = 0;
  let renewedMs = 0;
  let closed = false;
  let drained: (() => void) | undefined;
  let paused: ReturnType<typeof setTimeout> | undefined;
  let sweeper: ReturnType<typeof setInterval> | undefined;

  function acquire(limitMs: number, client?: Client): Promise<Session | Failure> {
    if (closed) return Promise.resolve(makeFailure("unavailable", "CONNECTION_ENDED"));
    for (let found = idle.pop(); found !== undefined; found = idle.pop()) {
      if (!found.session.isOpen()) continue;
      busy.add(found.session);
      return Promise.resolve(found.session);
    }
    const reason = busy.size === 0 ? circuit.openReason() : undefined;
    return reason === undefined ? wait(limitMs, client) : Promise.resolve(reason);
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
    while (attempts < waiting.size && busy.size + abandoned.size + idle.length + attempts < size) {
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
    discount();
    if ("kind" in result) {
      circuit.failed(result);
      if (busy.size + idle.length + attempts > 0) return connect();
      if (circuit.openReason() === undefined) return connect();
      for (const settle of [...waiting]) settle(result);
      return;
    }
    circuit.succeeded();
    if (closed || busy.size + abandoned.size + idle.length >= size) result.close();
    else give(result, performance.now());
    connect();
  }

  function give(session: Session, sinceMs: number): void {
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
    if (idleMs !== undefined) sweeper ??= setInterval(sweep, SWEEP_MS);
  }

  function isTooOld({ openedMs }: Session, nowMs: number): boolean {
    return openedMs < renewedMs || lifeMs !== undefined && nowMs - openedMs > lifeMs;
  }

  function release(session: Session): void {
    busy.delete(session);
    session.watch(undefined);
    const nowMs = performance.now();
    if (session.released !== undefined) abandon(session, session.released);
    else if (closed || isTooOld(session, nowMs)) session.close();
    if (session.isOpen()) give(session, nowMs);
    else connect();
    if (busy.size === 0) drained?.();
  }

  function abandon(session: Session, ended: Promise<void>): void {
    if (closed) return session.destroy();
    abandoned.add(session);
    onAbandoned?.(session);
    ended.then(() => {
      abandoned.delete(session);
      connect();
    });
  }

  /** Ends sessions that were idle, or are in use, for too long. */
  function sweep(): void {
    const nowMs = performance.now();
    for (const { session, sinceMs } of [...idle]) {
      if (nowMs - sinceMs < (idleMs ?? Infinity) && !isTooOld(session, nowMs)) continue;
      idle.splice(idle.findIndex((entry) => entry.session === session), 1);
      session.close();
    }
    if (idle.length > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
  }

  function renew(): void {
    renewedMs = performance.now();
    sweep();
  }

  async function close(timeoutMs: number): Promise<void> {
    closed = true;
    clearTimeout(paused);
    for (const settle of [...waiting]) settle(makeFailure("unavailable", "CONNECTION_ENDED"));
    renew();
    for (const session of abandoned) session.destroy();
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
