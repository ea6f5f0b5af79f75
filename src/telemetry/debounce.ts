import type { Observation, Observe } from "./observe.ts";

/** The clock of a debounced sink; tests give their own. */
export interface DebounceOptions {
  /** Milliseconds of a clock that never goes back. */
  readonly now?: () => number;
}

/** What is told again and again while something is broken. */
type Troubling = Extract<Observation, { kind: "failure" | "catalogue_failed" | "warning" }>;

/** Told last, and how often and what has come since. */
interface Seen {
  readonly toldMs: number;
  held: number;
  last: Troubling;
}

/** The same trouble is told once in this time. */
export const DEBOUNCE_MS = 10_000;
/** Different troubles that are kept apart; more than these pass as they come. */
const MAX_TROUBLES = 200;

/**
 * Makes a sink that tells the same failure or warning at once, and from then on every 10 s the last
 * of them with how many there were since (`repeated`).
 *
 * There is no timer: what is held is looked at when anything happens, and told at the latest when
 * the service stops.
 */
export function debounce(observe: Observe, options: DebounceOptions = {}): Observe {
  const { now = () => performance.now() } = options;
  const troubles = new Map<string, Seen>();
  let dueMs = Infinity;

  function tellDue(atMs: number): void {
    dueMs = Infinity;
    for (const [key, { toldMs, held, last }] of troubles) {
      if (toldMs + DEBOUNCE_MS > atMs) dueMs = Math.min(dueMs, toldMs + DEBOUNCE_MS);
      else {
        troubles.delete(key);
        if (held > 0) tell(key, { ...last, repeated: held });
      }
    }
  }

  function tell(key: string, trouble: Troubling): void {
    observe(trouble);
    if (troubles.size >= MAX_TROUBLES) return;
    const toldMs = now();
    troubles.set(key, { toldMs, held: 0, last: trouble });
    dueMs = Math.min(dueMs, toldMs + DEBOUNCE_MS);
  }

  return function observeDebounced(observation) {
    if (troubles.size > 0 && now() >= dueMs) tellDue(now());
    if (observation.kind === "stopping") tellDue(Infinity);
    if (!isTroubling(observation)) return observe(observation);
    const key = keyOf(observation);
    const seen = troubles.get(key);
    if (seen === undefined) return tell(key, observation);
    seen.held++;
    seen.last = observation;
  };
}

function isTroubling(observation: Observation): observation is Troubling {
  const { kind } = observation;
  return kind === "failure" || kind === "catalogue_failed" || kind === "warning";
}

/** All that makes two the same: not the request. */
function keyOf(trouble: Troubling): string {
  switch (trouble.kind) {
    case "failure":
      return `failure ${trouble.code} ${trouble.where}`;
    case "catalogue_failed":
      return `catalogue ${trouble.code}`;
    case "warning":
      return `warning ${trouble.message}`;
  }
}
