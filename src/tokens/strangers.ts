import { ApiError } from "../errors/api_error.ts";

/** How those wait of whom nobody knows yet whether they have a token that is good. */
export interface StrangersOptions {
  /** Look-ups at a time. */
  readonly most: number;
  /** More that may wait. */
  readonly queue: number;
  readonly waitMs: number;
  readonly now: () => number;
}

/** Does the work when it is its turn. @throws {ApiError} 503 when too many wait, or it took too long */
export type InTurn = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Bounds the look-ups of tokens that were never good here: anybody can make up a token of the right
 * form, and must not take the connections that tenants need.
 */
export function openStrangers({ most, queue: size, waitMs, now }: StrangersOptions): InTurn {
  const queue: (() => void)[] = [];
  let running = 0;

  return async function inTurn(work) {
    const arrivedMs = now();
    if (running < most) running++;
    else if (queue.length < size) await new Promise<void>((resolve) => queue.push(resolve));
    else throw refuse();
    try {
      if (now() - arrivedMs > waitMs) throw refuse();
      return await work();
    } finally {
      const next = queue.shift();
      if (next === undefined) running--;
      else next();
    }
  };
}

function refuse(): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, "The service is busy, try again in a second", { headers });
}
