import type { Failure } from "./database_error.ts";

/** Time between two attempts to connect to a database that is unavailable, in milliseconds. */
export const PAUSE_MS = 250;

/** Limits the attempts to connect to a database that is unavailable, and lets requests fail fast. */
export interface Circuit {
  /** Reports whether an attempt to connect may begin now, and counts it as begun. */
  readonly mayAttempt: () => boolean;
  /** Returns why no attempt may begin now; undefined if one may, or the reason is unknown. */
  readonly openReason: () => Failure | undefined;
  readonly failed: (failure: Failure) => void;
  /** Called if an attempt takes long; it may still succeed. */
  readonly strained: () => void;
  readonly succeeded: () => void;
}

/** Connections in a row that may break while they are opened before the circuit opens. */
const FREE_FAILURES = 3;

/**
 * Makes a circuit breaker. While closed, it allows any number of attempts. It opens when Postgres
 * rejects an attempt, an attempt takes long, or four in a row break. While open, it allows one
 * attempt each quarter of a second, until one succeeds.
 * @see D7
 */
export function openCircuit(now: () => number = () => performance.now()): Circuit {
  let isOpen = false;
  let reason: Failure | undefined;
  let nextMs = 0;
  let failures = 0;

  function pause(): void {
    isOpen = true;
    nextMs = now() + PAUSE_MS;
  }

  return {
    mayAttempt() {
      if (!isOpen) return true;
      if (now() < nextMs) return false;
      pause();
      return true;
    },
    openReason: () => isOpen && now() < nextMs ? reason : undefined,
    failed(failure) {
      reason = failure;
      if (failure.fromServer || ++failures > FREE_FAILURES) pause();
    },
    strained: pause,
    succeeded() {
      isOpen = false;
      reason = undefined;
      failures = 0;
    },
  };
}
