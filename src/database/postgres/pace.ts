import { onNextTick } from "../../server/runtime/timers.ts";

/** The pace of an export: how much it takes before other requests are served. */
export interface Pace {
  /** Bytes of rows that may be taken in this tick of the event loop; the last row may exceed them. */
  readonly bytes: () => number;
  /** Calls back when more may be taken: in the next tick, or later. */
  readonly next: (callback: () => void) => void;
}

/** The other requests that are served beside an export. */
export interface Others {
  /** Whether there are any in flight. */
  readonly isBusy: () => boolean;
  /** How many have begun so far. */
  readonly begun: () => number;
}

/** What tests replace. */
export interface PaceOptions {
  readonly nextTick?: (callback: () => void) => unknown;
  readonly wait?: (callback: () => void, ms: number) => unknown;
  readonly now?: () => number;
}

/** To print them takes half a millisecond. */
const BYTES = 131_072;
const SHARED_BYTES = 65_536;
/** Milliseconds for which more requests are expected after one has begun. */
const EXPECTED_MS = 1000;
/** After how many ticks an export rests while others are expected. */
const TICKS = 10;
/** Most waits after a tick, and fewest milliseconds of them together. */
const WAITS = 2;
const WAIT_MS = 1;

/**
 * Makes the pace of an export. While other requests are in flight, it takes less at once, and then
 * leaves the processor to them and to Postgres until they are answered, or for some milliseconds.
 * Under any load it still gets a part of its speed. For a second after a request has begun it rests
 * repeatedly, so that the next request, and its backend in Postgres, find a free processor.
 * @see EX25, docs/decisions/0063-export.md
 */
export function openPace(
  others: Others,
  { nextTick = onNextTick, wait = setTimeout, now = () => performance.now() }: PaceOptions = {},
): Pace {
  let seen = others.begun();
  let expectedUntilMs = -Infinity;
  let ticks = 0;

  function areExpected(): boolean {
    const begun = others.begun();
    if (begun !== seen) expectedUntilMs = now() + EXPECTED_MS;
    seen = begun;
    return now() < expectedUntilMs;
  }

  return {
    bytes: () => others.isBusy() || areExpected() ? SHARED_BYTES : BYTES,
    next(callback) {
      let waits = 0;
      let hasToRest = areExpected() && ++ticks % TICKS === 0;
      nextTick(function go() {
        if (!hasToRest && (waits === WAITS || !others.isBusy())) return callback();
        hasToRest = false;
        waits++;
        wait(go, WAIT_MS);
      });
    },
  };
}
