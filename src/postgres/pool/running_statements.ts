import type { Distance } from "./distance.ts";

/** The running statements of a tenant, and an estimate of how many may run at once. */
export interface RunningStatements {
  /** Counts one more; returns the function that is called when it has ended. */
  readonly start: () => () => void;
  readonly count: () => number;
  /**
   * Most statements at once. It is one while the latest of them were long for most of their time, or
   * any takes long now; otherwise it grows with each that ends.
   */
  readonly most: () => number;
}

/**
 * A statement is long that takes so much more than the way to Postgres and back. That of a page of 200
 * rows takes 1 ms, and 4 with seven others on two processors.
 */
const LONG_MS = 15;
/** How much a statement still counts when the next one ends: the latest twenty count most. */
const KEPT = 0.95;

/**
 * Watches the statements of a tenant. Their cost is unknown in advance, and a burst of expensive ones
 * takes the processors of Postgres for as long as they run. So few may run at first, and more as
 * others have ended. Their times are counted together, so that neither a pause of the service nor one
 * expensive statement among many that are not makes a tenant one with long statements.
 * @see docs/decisions/0051-long-statements.md
 */
export function openRunningStatements(
  distance: Pick<Distance, "ms">,
  now: () => number,
): RunningStatements {
  const running = new Set<{ readonly startedMs: number }>();
  let most = 1;
  /** The time of the latest statements, and of those of them that took long. */
  let allMs = 0;
  let longMs = 0;

  function isLong(ms: number): boolean {
    return ms > distance.ms() + LONG_MS;
  }

  return {
    start() {
      const one = { startedMs: now() };
      running.add(one);
      return () => {
        running.delete(one);
        const tookMs = now() - one.startedMs;
        allMs = allMs * KEPT + tookMs;
        longMs = longMs * KEPT + (isLong(tookMs) ? tookMs : 0);
        most = longMs > allMs / 2 ? 1 : most + 1;
      };
    },
    count: () => running.size,
    most() {
      const [oldest] = running;
      return oldest !== undefined && isLong(now() - oldest.startedMs) ? 1 : most;
    },
  };
}
