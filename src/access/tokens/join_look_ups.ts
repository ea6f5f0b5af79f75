import { ApiError } from "../../basics/errors/api_error.ts";
import { MAX_LOOK_UPS_TOGETHER, MAX_LOOK_UPS_WAITING } from "../../basics/errors/limits.ts";

/** What a look-up finds: the record of each token that exists. */
export type FoundRecords = ReadonlyMap<string, string>;

/** How tokens that were never valid here are looked up. */
export interface JoinOptions {
  /** Looks tokens up with one statement. */
  readonly lookUp: (tokens: readonly string[]) => Promise<FoundRecords>;
  readonly maxRunning: number;
  /** How long a token waits for a statement. */
  readonly waitMs: number;
  readonly now: () => number;
}

interface Waiter {
  readonly token: string;
  readonly arrivedMs: number;
  readonly resolve: (records: FoundRecords) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Joins the look-ups of tokens that were never valid here. Anyone can make up a token of the right
 * form, and a process that has just started knows none. So few statements run at once, and each looks
 * up all tokens that have arrived since: made-up tokens take no connections from tenants, and do not
 * hold up the valid ones between them.
 * @throws {ApiError} 503 too many tokens wait, or one waited too long
 * @see L19
 * @see docs/decisions/0011-tokens.md
 */
export function joinLookUps(
  { lookUp, maxRunning, waitMs, now }: JoinOptions,
): (token: string) => Promise<FoundRecords> {
  const queue: Waiter[] = [];
  let running = 0;

  async function runNext(): Promise<void> {
    const waiters = takeNext();
    if (waiters.length === 0) return;
    try {
      const records = await lookUp(waiters.map(({ token }) => token));
      for (const { resolve } of waiters) resolve(records);
    } catch (error) {
      for (const { reject } of waiters) reject(error);
    }
  }

  /** Takes those that have waited longest; they are rejected if that was too long. */
  function takeNext(): readonly Waiter[] {
    return queue.splice(0, MAX_LOOK_UPS_TOGETHER).filter(({ arrivedMs, reject }) => {
      const isLate = now() - arrivedMs > waitMs;
      if (isLate) reject(rejectBusy(`The token could not be looked up within ${waitMs} ms`));
      return !isLate;
    });
  }

  async function drain(): Promise<void> {
    running++;
    while (queue.length > 0) await runNext();
    running--;
  }

  return function join(token) {
    if (queue.length >= MAX_LOOK_UPS_WAITING) {
      const limit = `At most ${MAX_LOOK_UPS_WAITING} requests wait for the look-up of their token`;
      return Promise.reject(rejectBusy(limit));
    }
    return new Promise((resolve, reject) => {
      queue.push({ token, arrivedMs: now(), resolve, reject });
      if (running < maxRunning) void drain();
    });
  };
}

function rejectBusy(limit: string): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, `${limit}, try again in a second`, { headers });
}
