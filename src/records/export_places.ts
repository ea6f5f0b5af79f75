import { ApiError } from "../basics/errors/api_error.ts";

/** Places for the limited number of exports that may run at once. */
export interface ExportPlaces {
  /**
   * Takes a place, and gives the function that frees it.
   * @throws {ApiError} 503 no place is free, or it is another tenant's turn
   */
  readonly enter: (tenant: string) => () => void;
}

/** `Retry-After` of a rejected export. */
const RETRY_SECONDS = 5;
/** How long a rejected tenant has a claim to a place. */
const CLAIM_MS = 2 * RETRY_SECONDS * 1000;

/** A tenant that was rejected, and has not come back yet. */
interface Claim {
  readonly order: number;
  untilMs: number;
}

/** How many exports may run. */
export interface ExportLimits {
  readonly max: number;
  /** Exports of one tenant; left out: the same number. */
  readonly maxOfTenant?: number | undefined;
  /** Called with the number of running exports whenever it changes. */
  readonly changed: (exports: number) => void;
  /** Milliseconds of a monotonic clock; tests pass their own. */
  readonly now?: () => number;
}

/**
 * Limits the exports that run at the same time. A rejected tenant has a claim to a place for twice
 * its `Retry-After`. A place goes to the claiming tenant with the fewest running exports; of equal
 * ones, to the one that was rejected first.
 * @see EX18, EX19
 */
export function openExportPlaces(
  { max, maxOfTenant = max, changed, now = () => performance.now() }: ExportLimits,
): ExportPlaces {
  const running = new Map<string, number>();
  const claims = new Map<string, Claim>();
  let taken = 0;
  let rejections = 0;

  const countOf = (tenant: string) => running.get(tenant) ?? 0;

  function add(tenant: string, by: 1 | -1): void {
    const count = countOf(tenant) + by;
    if (count === 0) running.delete(tenant);
    else running.set(tenant, count);
    taken += by;
    changed(taken);
  }

  /** Counts the tenants whose turn comes before this one's. */
  function countAhead(tenant: string): number {
    const own = claims.get(tenant)?.order ?? Infinity;
    let ahead = 0;
    for (const [other, { order }] of claims) {
      if (other === tenant) continue;
      const difference = countOf(other) - countOf(tenant);
      if (difference < 0 || difference === 0 && order < own) ahead++;
    }
    return ahead;
  }

  return {
    enter(tenant) {
      if (countOf(tenant) >= maxOfTenant && maxOfTenant < max) throw rejectTenant(maxOfTenant);
      const nowMs = now();
      for (const [other, { untilMs }] of claims) if (untilMs < nowMs) claims.delete(other);
      if (max - taken <= countAhead(tenant)) {
        const order = claims.get(tenant)?.order ?? ++rejections;
        claims.set(tenant, { order, untilMs: nowMs + CLAIM_MS });
        throw rejectFull(max);
      }
      claims.delete(tenant);
      add(tenant, 1);
      let left = false;
      return () => {
        if (left) return;
        left = true;
        add(tenant, -1);
      };
    },
  };
}

function rejectFull(max: number): ApiError {
  return reject(`Too many exports are running, at most ${max} at once`);
}

/**
 * Makes the 503 for a tenant with too many exports of its own. It gets no claim: a place is free when
 * one of these ends.
 */
function rejectTenant(max: number): ApiError {
  return reject(`Too many of your exports are running, at most ${max} at once`);
}

function reject(what: string): ApiError {
  const message = `${what}, try again in ${RETRY_SECONDS} seconds`;
  return new ApiError(503, message, { headers: { "Retry-After": String(RETRY_SECONDS) } });
}
