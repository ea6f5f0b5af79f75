import { ApiError } from "../errors/api_error.ts";
import { WAITING_PER_LOOK_UP } from "../errors/limits.ts";

/** Limits of the look-ups of unknown tokens. */
export interface LookUpLimits {
  readonly maxRunning: number;
  /** How long a look-up waits for its turn. */
  readonly waitMs: number;
  readonly now: () => number;
}

/** Runs a look-up when it is its turn. @throws {ApiError} 503 too many wait, or it waited too long */
export type RunLimited = <T>(lookUp: () => Promise<T>) => Promise<T>;

/**
 * Limits the look-ups of tokens that were never valid here. Anyone can make up a token of the right
 * form, and must not take the connections that tenants need.
 * @see L19
 */
export function limitLookUps({ maxRunning, waitMs, now }: LookUpLimits): RunLimited {
  const maxWaiting = WAITING_PER_LOOK_UP * maxRunning;
  const queue: (() => void)[] = [];
  let running = 0;

  return async function runLimited(lookUp) {
    const arrivedMs = now();
    if (running < maxRunning) running++;
    else if (queue.length < maxWaiting) await new Promise<void>((resolve) => queue.push(resolve));
    else throw rejectBusy(`At most ${maxWaiting} requests wait for the look-up of their token`);
    try {
      if (now() - arrivedMs > waitMs) {
        throw rejectBusy(`The token could not be looked up within ${waitMs} ms`);
      }
      return await lookUp();
    } finally {
      const next = queue.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

function rejectBusy(limit: string): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, `${limit}, try again in a second`, { headers });
}
