import type { Backend } from "./session.ts";
import type { Circuit } from "./circuit.ts";
import { PAUSE_MS } from "./circuit.ts";
import { SLOW_MS } from "./sessions.ts";
import { startDeadline } from "../runtime/timers.ts";
import type { Client } from "./database.ts";
import type { Failure } from "./database_error.ts";
import { fail } from "./database_error.ts";

/** Sessions that are taken for one statement or transaction, and given back. */
export interface Pool {
  /** Waits for a session no longer than the given milliseconds. */
  readonly acquire: (limitMs: number, client?: Client) => Promise<Backend | Failure>;
  /** Takes a session back: to be used again, or not when it is open no more. */
  readonly release: (backend: Backend) => void;
  /** Uses none of the sessions again that stand now. */
  readonly renew: () => void;
  /** Waits for what runs, then cancels it; sessions are ended at last. */
  readonly close: (timeoutMs: number) => Promise<void>;
}

/** What a pool is made of. */
export interface PoolOptions {
  readonly size: number;
  readonly open: () => Promise<Backend | Failure>;
  readonly circuit: Circuit;
  /** Told of a session that came back while Postgres may still work on it. */
  readonly abandoned?: (backend: Backend) => void;
  /** Milliseconds that a session rests, and lives, before it is ended; for ever when undefined. */
  readonly idleMs?: number | undefined;
  readonly lifeMs?: number | undefined;
}

const SWEEP_MS = 10_000;
/** For what was cancelled to be answered. */
const CANCELLED_MS = 1000;

/**
 * Makes a pool. Who asks gets a session that rests, or the first that becomes free or ready: nobody
 * is bound to an attempt to connect. While none stands and the circuit says why, it fails at once.
 * @see D7
 */
export function openPool({ size, open, circuit, abandoned, idleMs, lifeMs }: PoolOptions): Pool {
  const idle: { readonly backend: Backend; readonly sinceMs: number }[] = [];
  const busy = new Set<Backend>();
  /** They count as much as those that are busy: Postgres has a connection for each. */
  const left = new Set<Backend>();
  const waiting = new Set<(result: Backend | Failure) => void>();
  let attempts = 0;
  let renewedMs = 0;
  let closed = false;
  let drained: (() => void) | undefined;
  let paused: ReturnType<typeof setTimeout> | undefined;
  let sweeper: ReturnType<typeof setInterval> | undefined;

  function acquire(limitMs: number, client?: Client): Promise<Backend | Failure> {
    if (closed) return Promise.resolve(fail("unavailable", "CONNECTION_ENDED"));
    for (let rested = idle.pop(); rested !== undefined; rested = idle.pop()) {
      if (!rested.backend.isOpen()) continue;
      busy.add(rested.backend);
      return Promise.resolve(rested.backend);
    }
    const refusal = busy.size === 0 ? circuit.refusal() : undefined;
    return refusal === undefined ? wait(limitMs, client) : Promise.resolve(refusal);
  }

  function wait(ms: number, client?: Client): Promise<Backend | Failure> {
    return new Promise((resolve) => {
      const settle = (result: Backend | Failure) => {
        waiting.delete(settle);
        endDeadline();
        resolve(result);
      };
      const endDeadline = startDeadline({
        ms,
        late: () => settle(fail("unavailable", "CONNECT_TIMEOUT")),
        client,
        gone: () => settle(fail("timeout", "ABORTED")),
      });
      waiting.add(settle);
      connect();
    });
  }

  /** Makes as many attempts as there is somebody waiting, room and leave for. */
  function connect(): void {
    while (attempts < waiting.size && busy.size + left.size + idle.length + attempts < size) {
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
      if (circuit.refusal() === undefined) return connect();
      for (const settle of [...waiting]) settle(result);
      return;
    }
    circuit.succeeded();
    if (closed || busy.size + left.size + idle.length >= size) result.close();
    else hand(result, performance.now());
    connect();
  }

  function hand(backend: Backend, sinceMs: number): void {
    const [first] = waiting;
    if (first !== undefined) {
      busy.add(backend);
      return first(backend);
    }
    const rested = { backend, sinceMs };
    idle.push(rested);
    backend.watch(() => {
      const place = idle.indexOf(rested);
      if (place >= 0) idle.splice(place, 1);
    });
    if (idleMs !== undefined) sweeper ??= setInterval(sweep, SWEEP_MS);
  }

  function isWorn({ openedMs }: Backend, nowMs: number): boolean {
    return openedMs < renewedMs || lifeMs !== undefined && nowMs - openedMs > lifeMs;
  }

  function release(backend: Backend): void {
    busy.delete(backend);
    backend.watch(undefined);
    const nowMs = performance.now();
    if (backend.left !== undefined) leave(backend, backend.left);
    else if (closed || isWorn(backend, nowMs)) backend.close();
    if (backend.isOpen()) hand(backend, nowMs);
    else connect();
    if (busy.size === 0) drained?.();
  }

  function leave(backend: Backend, ended: Promise<void>): void {
    if (closed) return backend.destroy();
    left.add(backend);
    abandoned?.(backend);
    ended.then(() => {
      left.delete(backend);
      connect();
    });
  }

  /** Ends what rested for too long. */
  function sweep(): void {
    const nowMs = performance.now();
    for (const { backend, sinceMs } of [...idle]) {
      if (nowMs - sinceMs < (idleMs ?? Infinity) && !isWorn(backend, nowMs)) continue;
      idle.splice(idle.findIndex((rested) => rested.backend === backend), 1);
      backend.close();
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
    for (const settle of [...waiting]) settle(fail("unavailable", "CONNECTION_ENDED"));
    renew();
    for (const backend of left) backend.destroy();
    await drain(timeoutMs);
    for (const backend of busy) backend.cancel();
    await drain(CANCELLED_MS);
    for (const backend of busy) backend.destroy();
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
