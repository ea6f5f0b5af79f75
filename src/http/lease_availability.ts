import { DatabaseError } from "../postgres/database_error.ts";
import type { Observe } from "../telemetry/observe.ts";

/** Whether the database grants leases, as far as the last request for them has shown. */
export interface LeaseAvailability {
  readonly isAvailable: () => boolean;
  /** Reports whether to request a lease: always while they are available, otherwise now and then. */
  readonly mayAsk: () => boolean;
  readonly answered: () => void;
  readonly failed: (error: unknown) => void;
}

/** What the availability depends on, and where it is reported. */
export interface AvailabilityOptions {
  readonly now: () => number;
  readonly observe: Observe;
  /** Returns the number of processes that share the limit. */
  readonly members: () => number;
}

/** Time until the database is asked again, after a failure or if the role or the schema forbids it. */
const AGAIN_MS = 1000;
const FORBIDDEN_MS = 60_000;

/** Watches whether leases are available; at first they are. It warns once when they no longer are. */
export function watchAvailability(
  { now, observe, members }: AvailabilityOptions,
): LeaseAvailability {
  /** Undefined: leases are available. */
  let unavailableUntilMs: number | undefined;

  function answered(): void {
    observe({ kind: "rate_leases", result: "leased" });
    unavailableUntilMs = undefined;
  }

  function failed(error: unknown): void {
    observe({ kind: "rate_leases", result: "failed" });
    const isForbidden = error instanceof DatabaseError &&
      (error.kind === "permission" || error.kind === "stale");
    if (unavailableUntilMs === undefined) {
      observe({ kind: "warning", message: explain(isForbidden, members()) });
    }
    unavailableUntilMs = now() + (isForbidden ? FORBIDDEN_MS : AGAIN_MS);
  }

  return {
    isAvailable: () => unavailableUntilMs === undefined,
    mayAsk: () => unavailableUntilMs === undefined || now() >= unavailableUntilMs,
    answered,
    failed,
  };
}

function explain(isForbidden: boolean, members: number): string {
  const share = `each of ${members} processes admits its share of the rate limit`;
  return isForbidden
    ? `the rate limit is not shared: the role may not call rowgate.lease_rates, or the schema ` +
      `rowgate is of an earlier version (rowgate doctor has the statements); ${share}`
    : `the rate limit is not shared while the database is unavailable: ${share}`;
}
