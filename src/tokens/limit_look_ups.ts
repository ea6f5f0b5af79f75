import { ApiError } from "../errors/api_error.ts";

/** Limits of the look-ups of unknown tokens. */
export interface LookUpLimits {
  readonly maxRunning: number;
  readonly maxWaiting: number;
  readonly waitMs: number;
  readonly now: () => number;
}

/** Runs a look-up when it is its turn. @throws {ApiError} 503 too many wait, or it waited too long */
export type RunLimited = <T>(lookUp: () => Promise<T>) => Promise<T>;

/**
 * Limits the look-ups of tokens that were never valid here: every client can make up a token of the
 * right form, and must not take the connections that tenants need.
 */
export function limitLookUps({ maxRunning, maxWaiting, waitMs, now }: LookUpLimits): RunLimited {
  const queue: (() => void)[] = [];
  let running = 0;

  return async function runLimited(lookUp) {
    const arrivedMs = now();
    if (running < maxRunning) running++;
    else if (queue.length < maxWaiting) await new Promise<void>((resolve) => queue.push(resolve));
    else throw rejectBusy();
    try {
      if (now() - arrivedMs > waitMs) throw rejectBusy();
      return await lookUp();
    } finally {
      const next = queue.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

function rejectBusy(): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, "The service is busy, try again in a second", { headers });
}
