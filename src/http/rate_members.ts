import type { Observe } from "../telemetry/observe.ts";
import type { RateLeases } from "./rate_leases.ts";

/** The processes that share the rate limit, of which this is one. */
export interface RateMembers {
  /** How many there are, as far as this process knows; at least 1. */
  readonly count: () => number;
  /** Registers this process again, and counts all. Never rejects. */
  readonly meet: () => Promise<void>;
  /** Removes this process. Never rejects. */
  readonly leave: () => Promise<void>;
}

/** Opens the count of processes. If the database is unavailable, the last known number stays in use. */
export function openRateMembers(
  { leases, observe }: { readonly leases: RateLeases; readonly observe: Observe },
): RateMembers {
  let members = 1;

  async function countAll(ended: boolean): Promise<void> {
    try {
      members = Math.max(1, await leases.countMembers(ended));
      observe({ kind: "rate_members", members });
    } catch {
      // The request for a lease reports that the database is unavailable.
    }
  }

  return { count: () => members, meet: () => countAll(false), leave: () => countAll(true) };
}
