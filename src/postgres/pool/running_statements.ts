import type { Distance } from "./distance.ts";

/** The running statements of a tenant, and an estimate of how many may run at once. */
export interface RunningStatements {
  /** Counts one more; returns the function that is called when it has ended. */
  readonly start: () => () => void;
  readonly count: () => number;
  /**
   * Reports whether the first of them has run for so long that another one need not wait for it: a
   * second, and more if those that did not wait took long as well.
   */
  readonly isHeldUp: () => boolean;
  /**
   * Most statements at once. It is one while the latest of them were long for most of their time, or
   * any takes long now; otherwise it grows with each that ends.
   */
  readonly most: () => number;
}

/** What the statements of a tenant are judged by. */
export interface RunningOptions {
  readonly distance: Pick<Distance, "ms">;
  /** Counts the running statements of all tenants. */
  readonly countAll: () => number;
  /** How long a statement waits for its turn before it is rejected. */
  readonly waitMs: number;
  readonly now: () => number;
}

/** A running statement. */
interface Running {
  readonly startedMs: number;
  /** How many ran when it began, of all tenants, itself included. */
  readonly all: number;
}

/**
 * A statement is long if it takes more than this for each statement that runs, itself included and two
 * at least, besides the way to Postgres and back. An ordinary page takes less, alone or among others.
 */
const LONG_MS = 3;
/** How much a statement still counts when the next one ends: the latest twenty count most. */
const KEPT = 0.95;
/** A statement waits behind a report for so long, if those before it were short. */
const PATIENCE_MS = 1000;
/** If they were reports as well; but only this part of the time that a request waits at most. */
const MAX_PATIENCE_MS = 4000;
const PART_OF_WAIT = 0.8;
/** What long statements must add up to: two of the latest thirteen, not one alone. */
const REPEATED = 1.5;

/**
 * Watches the statements of a tenant. Their cost is unknown in advance, and a burst of expensive ones
 * takes the processors of Postgres for as long as they run. So few may run at first, and more as
 * others have ended. Their times are counted together, and one long statement alone does not count, so
 * that neither a pause of the service nor an expensive statement among many others makes a tenant one
 * with long statements.
 * @see docs/decisions/0030-admission.md
 */
export function openRunningStatements(
  { distance, countAll, waitMs, now }: RunningOptions,
): RunningStatements {
  const maxPatienceMs = Math.max(PATIENCE_MS, Math.min(MAX_PATIENCE_MS, PART_OF_WAIT * waitMs));
  const running = new Set<Running>();
  let most = 2;
  /** The time of the latest statements, and of those of them that took long. */
  let allMs = 0;
  let longMs = 0;
  /** How many of them took long. */
  let longs = 0;
  let patienceMs = PATIENCE_MS;

  /** Reports whether a statement takes long, for as many as run beside it now or did when it began. */
  function isLong({ startedMs, all }: Running): boolean {
    const limitMs = LONG_MS * Math.max(2, all, countAll());
    return now() - startedMs > distance.ms() + limitMs;
  }

  function hasRunFor({ startedMs }: Running, ms: number): boolean {
    return now() - startedMs > ms;
  }

  function isHeldUp(): boolean {
    const [oldest] = running;
    return oldest !== undefined && hasRunFor(oldest, patienceMs);
  }

  /** Two reports at once keep two processors from other tenants; a short query beside one does not. */
  function adaptPatience(tookMs: number, isBesideReport: boolean): void {
    const [oldest] = running;
    const isBeside = isBesideReport || oldest !== undefined && hasRunFor(oldest, PATIENCE_MS);
    if (tookMs > PATIENCE_MS && isBeside) patienceMs = maxPatienceMs;
    else if (isBesideReport) patienceMs = PATIENCE_MS;
  }

  return {
    start() {
      const one = { startedMs: now(), all: countAll() };
      const isBesideReport = isHeldUp();
      running.add(one);
      return () => {
        running.delete(one);
        const tookMs = now() - one.startedMs;
        const long = isLong(one);
        adaptPatience(tookMs, isBesideReport);
        allMs = allMs * KEPT + tookMs;
        longMs = longMs * KEPT + (long ? tookMs : 0);
        longs = longs * KEPT + (long ? 1 : 0);
        const mostlyLong = longMs > allMs / 2 && (most === 1 || longs > REPEATED);
        most = mostlyLong ? 1 : most + 1;
      };
    },
    count: () => running.size,
    isHeldUp,
    most() {
      const [oldest] = running;
      return oldest !== undefined && isLong(oldest) ? 1 : most;
    },
  };
}
