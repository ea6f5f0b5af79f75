import { ApiError } from "../basics/errors/api_error.ts";

/** The requests in flight. */
export interface InFlight {
  readonly enter: () => Place;
  /** Reports whether any request of a known tenant is in flight, except those that only wait. */
  readonly isBusy: () => boolean;
  /** Counts the requests of known tenants that have begun so far, or continued after a wait. */
  readonly begun: () => number;
}

/** The place of one request among those in flight. */
export interface Place {
  /**
   * Counts the request as one of a tenant, and no longer as one of the tenant before.
   * @throws {ApiError} 503 the service is full and the tenant is above its share
   */
  readonly claim: (tenant: string) => void;
  /** Counts the request for no tenant while it only waits. */
  readonly rest: () => void;
  /** Gives the place back, once. */
  readonly leave: () => void;
}

/**
 * Limits the requests in flight of known tenants to `max`. When there are more, a tenant is rejected
 * only above its equal share, so that a flood of one does not shut out the others; beyond twice `max`
 * every request is. Requests without a known tenant (probes, those without a valid token) are counted
 * and not limited: they wait for one probe at most, or for the look-ups of unknown tokens.
 * @see R19
 */
export function limitInFlight(max: number, changed: (requests: number) => void): InFlight {
  const tenants = new Map<string, number>();
  let known = 0;
  let unknown = 0;
  let begun = 0;

  function count(tenant: string, by: 1 | -1): number {
    const requests = (tenants.get(tenant) ?? 0) + by;
    if (requests === 0) tenants.delete(tenant);
    else tenants.set(tenant, requests);
    known += by;
    unknown -= by;
    return requests;
  }

  return {
    isBusy: () => known > 0,
    begun: () => begun,
    enter() {
      let owner: string | undefined;
      changed(known + ++unknown);
      return {
        claim(tenant) {
          if (owner === tenant) return;
          if (owner !== undefined) count(owner, -1);
          owner = tenant;
          begun++;
          const requests = count(tenant, 1);
          const full = known > max && requests > max / tenants.size;
          if (full || known > 2 * max) throw rejectBusy(max);
        },
        rest() {
          if (owner !== undefined) count(owner, -1);
          owner = undefined;
        },
        leave() {
          if (owner !== undefined) count(owner, -1);
          changed(known + --unknown);
        },
      };
    },
  };
}

function rejectBusy(max: number): ApiError {
  const headers = { "Retry-After": "1" };
  const message = `The service is busy, at most ${max} requests at once, try again in a second`;
  return new ApiError(503, message, { headers });
}
