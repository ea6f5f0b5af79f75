import type { Failure } from "./database_error.ts";
import { isBroken } from "./database_error.ts";

/** How long nobody connects after an attempt in vain, in milliseconds. */
export const PAUSE_MS = 250;

/** Keeps a database that is away from being besieged, and those who ask from waiting for it. */
export interface Circuit {
  /** Takes the right to one attempt to connect; false: not now. */
  readonly mayAttempt: () => boolean;
  /** Says why nobody can connect at this moment, if it is known. */
  readonly refusal: () => Failure | undefined;
  readonly failed: (failure: Failure) => void;
  /** Told of an attempt that takes long, and may yet succeed. */
  readonly strained: () => void;
  readonly succeeded: () => void;
}

/** Failures in a row that may be chance: connections that broke while they were made. */
const FREE_FAILURES = 3;

/**
 * Makes a circuit: any number of attempts until Postgres refuses one, one takes long, or four fail;
 * then one each quarter of a second until one succeeds.
 * @see D7
 */
export function openCircuit(now: () => number = () => performance.now()): Circuit {
  let troubled = false;
  let reason: Failure | undefined;
  let nextMs = 0;
  let failures = 0;

  function pause(): void {
    troubled = true;
    nextMs = now() + PAUSE_MS;
  }

  return {
    mayAttempt() {
      if (!troubled) return true;
      if (now() < nextMs) return false;
      pause();
      return true;
    },
    refusal: () => troubled && now() < nextMs ? reason : undefined,
    failed(failure) {
      reason = failure;
      if (!isBroken(failure) || ++failures > FREE_FAILURES) pause();
    },
    strained: pause,
    succeeded() {
      troubled = false;
      reason = undefined;
      failures = 0;
    },
  };
}
