/** The running statements of a tenant, and an estimate of how many may run at once. */
export interface RunningStatements {
  /** Counts one more; returns the function that is called when it has ended. */
  readonly start: () => () => void;
  readonly count: () => number;
  /**
   * Most statements at once. It is one while any statement takes long, or did a moment ago; otherwise
   * it grows with each short one.
   */
  readonly most: () => number;
}

/** A statement of a page of 200 rows takes 1 ms, and 10 on a busy machine. */
const LONG_MS = 100;
/** How long a tenant counts as one with long statements after one took long. */
const REMEMBERED_MS = 1000;

/**
 * Watches the statements of a tenant. Their cost is unknown in advance, and a burst of expensive ones
 * takes the processors of Postgres for as long as they run. So few may run at first, and more as
 * short ones have ended.
 * @see docs/decisions/0051-long-statements.md
 */
export function openRunningStatements(
  now: () => number = () => performance.now(),
): RunningStatements {
  const running = new Set<{ readonly startedMs: number }>();
  let most = 1;
  let longMs = -Infinity;
  return {
    start() {
      const one = { startedMs: now() };
      running.add(one);
      return () => {
        running.delete(one);
        const endedMs = now();
        if (endedMs - one.startedMs > LONG_MS) {
          most = 1;
          longMs = endedMs;
        } else if (endedMs - longMs > REMEMBERED_MS) most++;
      };
    },
    count: () => running.size,
    most() {
      const [oldest] = running;
      return oldest !== undefined && now() - oldest.startedMs > LONG_MS ? 1 : most;
    },
  };
}
