import { IS_BUN, IS_DENO } from "../runtime/adapter.ts";
import { onNextTick } from "../runtime/timers.ts";

/** How many rows of an export are taken before others are served. */
export interface Pace {
  /** Bytes of rows that may be taken in this tick of the event loop; the last row may exceed them. */
  readonly bytes: () => number;
  /** Calls back when more may be taken: in the next tick, or later. */
  readonly next: (callback: () => void) => void;
}

/** The requests beside an export. */
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
/**
 * For how many milliseconds others are expected when one has begun. Not on Node: there rests bring look-ups
 * nothing (p99 16 instead of 14 ms) and take a third of the export's throughput beside them.
 */
const EXPECTED_MS = IS_DENO || IS_BUN ? 1000 : 0;
/** After how many ticks an export rests while others are expected. */
const TICKS = 10;
/** How often it waits behind a tick at most, and for how many milliseconds at least. */
const WAITS = 2;
const WAIT_MS = 1;

/**
 * Makes the pace of an export. While others are in flight it takes less at once, and then leaves the
 * processor to them and to Postgres until they are answered, or for some milliseconds: under any load there
 * are 15 MB in a second left for it. For a second after one has begun it rests again and again: the next one
 * finds a processor that is free, and so does the backend that works for it.
 * @see EX25, docs/decisions/0069-exports-let-others-pass.md
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
