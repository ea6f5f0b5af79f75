/** How far away Postgres is: what every statement takes, however little it does. */
export interface Distance {
  /** Notes how long a statement took. */
  readonly took: (ms: number) => void;
  /** Infinity until a statement has ended. */
  readonly ms: () => number;
}

/** How slowly an estimate that is too low is forgotten: in as many statements. */
const FORGOTTEN_IN = 1000;

/**
 * Estimates the distance by the shortest of the latest statements, of all tenants. Long ones raise it
 * little, and the next short one corrects that.
 * @see docs/decisions/0030-admission.md
 */
export function estimateDistance(): Distance {
  let leastMs = Infinity;
  return {
    took(ms) {
      leastMs = ms < leastMs ? ms : leastMs + (ms - leastMs) / FORGOTTEN_IN;
    },
    ms: () => leastMs,
  };
}
