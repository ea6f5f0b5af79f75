import type { Observation, Observe } from "./observe.ts";

/** Clock of the debounced sink; tests pass their own. */
export interface DebounceOptions {
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
}

/** An observation that repeats while something is broken. */
type Trouble = Extract<Observation, { kind: "failure" | "catalogue_failed" | "warning" }>;

/** A reported trouble, and its repetitions since. */
interface Reported {
  readonly atMs: number;
  held: number;
  last: Trouble;
}

/** The same trouble is reported once in this time. */
export const DEBOUNCE_MS = 10_000;
/** Number of different troubles that are debounced at once; beyond it they are passed on unchanged. */
const MAX_TROUBLES = 200;

/**
 * Makes a sink that reports a failure or warning at once, and its repetitions at most every 10 s: the
 * last one, with their number (`repeated`).
 *
 * There is no timer: repetitions are reported when something else happens, and at the latest when the
 * service stops.
 */
export function debounce(observe: Observe, options: DebounceOptions = {}): Observe {
  const { now = () => performance.now() } = options;
  const troubles = new Map<string, Reported>();
  let dueMs = Infinity;

  function reportDue(untilMs: number): void {
    dueMs = Infinity;
    for (const [key, { atMs, held, last }] of troubles) {
      if (atMs + DEBOUNCE_MS > untilMs) dueMs = Math.min(dueMs, atMs + DEBOUNCE_MS);
      else {
        troubles.delete(key);
        if (held > 0) report(key, { ...last, repeated: held });
      }
    }
  }

  function report(key: string, trouble: Trouble): void {
    observe(trouble);
    if (troubles.size >= MAX_TROUBLES) return;
    const atMs = now();
    troubles.set(key, { atMs, held: 0, last: trouble });
    dueMs = Math.min(dueMs, atMs + DEBOUNCE_MS);
  }

  return function observeDebounced(observation) {
    if (troubles.size > 0 && now() >= dueMs) reportDue(now());
    if (observation.kind === "stopping") reportDue(Infinity);
    if (!isTrouble(observation)) return observe(observation);
    const key = keyOf(observation);
    const reported = troubles.get(key);
    if (reported === undefined) return report(key, observation);
    reported.held++;
    reported.last = observation;
  };
}

function isTrouble(observation: Observation): observation is Trouble {
  const { kind } = observation;
  return kind === "failure" || kind === "catalogue_failed" || kind === "warning";
}

/** Two troubles with the same key are the same; the request does not matter. */
function keyOf(trouble: Trouble): string {
  switch (trouble.kind) {
    case "failure":
      return `failure ${trouble.code} ${trouble.where}`;
    case "catalogue_failed":
      return `catalogue ${trouble.code}`;
    case "warning":
      return `warning ${trouble.message}`;
  }
}
