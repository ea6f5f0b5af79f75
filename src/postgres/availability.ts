import type { Observe } from "../telemetry/observe.ts";
import type { Failure } from "./database_error.ts";

/**
 * Tells when the database goes away and when it is back, once each; not that it was never there. The
 * function is told how each statement ended.
 */
export function observeAvailability(observe: Observe): (failure: Failure | undefined) => void {
  let away: boolean | undefined;
  return (failure) => {
    const gone = failure?.kind === "unavailable" || failure?.kind === "lost";
    if (gone === away) return;
    const known = away !== undefined;
    away = gone;
    if (!known) return;
    const message = gone
      ? `the database is not available (${failure?.code})`
      : "the database is available again";
    observe({ kind: "warning", message });
  };
}
