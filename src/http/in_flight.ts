import { ApiError } from "../errors/api_error.ts";

/** Counts the requests that are being answered. */
export interface InFlight {
  readonly enter: () => Place;
}

/** The place of one request among them. */
export interface Place {
  /** Says whose request it is, once or again. @throws {ApiError} 503 when it is full and the tenant over its share */
  readonly claim: (tenant: string) => void;
  /** Gives the place back, once. */
  readonly leave: () => void;
}

/**
 * Keeps the requests of known tenants to `max`. When it is full, a tenant has its share for itself: who
 * floods is refused, not who comes after. What that lets in above `max` is bounded by twice as many.
 * Requests of which nobody knows whose they are (probes, those without a good token) are counted and
 * take no place: they wait for nothing but one probe, or the look-ups of unknown tokens.
 * @see R19
 */
export function countInFlight(max: number, changed: (requests: number) => void): InFlight {
  const tenants = new Map<string, number>();
  let known = 0;
  let unknown = 0;

  function count(tenant: string, by: 1 | -1): number {
    const requests = (tenants.get(tenant) ?? 0) + by;
    if (requests === 0) tenants.delete(tenant);
    else tenants.set(tenant, requests);
    known += by;
    unknown -= by;
    return requests;
  }

  return {
    enter() {
      let whose: string | undefined;
      changed(known + ++unknown);
      return {
        claim(tenant) {
          if (whose === tenant) return;
          if (whose !== undefined) count(whose, -1);
          whose = tenant;
          const requests = count(tenant, 1);
          const full = known > max && requests > max / tenants.size;
          if (full || known > 2 * max) throw refuseBusy();
        },
        leave() {
          if (whose !== undefined) count(whose, -1);
          changed(known + --unknown);
        },
      };
    },
  };
}

function refuseBusy(): ApiError {
  const headers = { "Retry-After": "1" };
  return new ApiError(503, "The service is busy, try again in a second", { headers });
}
