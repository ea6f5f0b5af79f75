import type { RunningStatements } from "./running_statements.ts";

/** An entrant that waits. */
export interface Waiter {
  readonly arrivedMs: number;
  /** Admits it; undefined once it no longer waits, because memory of the set may still refer to it. */
  enter: (() => void) | undefined;
}

/** The waiting entrants of a share that are brief, or those that may run long. */
export interface Lane {
  /** In the order of arrival. */
  readonly waiting: Set<Waiter>;
  admitted: number;
  /** How many can wait and still be admitted in time, as an estimate. */
  mayWait: number;
}

/** What a tenant has at a gate. It is deleted when none of its entrants is inside or waiting. */
export interface Share {
  /** The tenant; undefined: the service itself. */
  readonly name: string | undefined;
  inside: number;
  readonly brief: Lane;
  readonly other: Lane;
  /** Those inside that are not brief. */
  readonly running: RunningStatements;
}

/** Makes the share of a tenant that has nothing at the gate yet; `running` are none as well. */
export function openShare(name: string | undefined, running: RunningStatements): Share {
  const openLane = (): Lane => ({ waiting: new Set(), admitted: 0, mayWait: Infinity });
  return {
    name,
    inside: 0,
    brief: openLane(),
    other: openLane(),
    running,
  };
}
