import { onNextTick } from "../runtime/timers.ts";

/** How many rows of an export are taken before others are served. */
export interface Pace {
  /** Bytes of rows that may be taken in this tick of the event loop; the last row may exceed them. */
  readonly bytes: () => number;
  /** Calls back when more may be taken: in the next tick, or later. */
  readonly next: (callback: () => void) => void;
}

/** What a pace depends on. */
export interface PaceOptions {
  /** Whether other requests are in flight. */
  readonly isBusy: () => boolean;
  /** Tests pass their own. */
  readonly nextTick?: (callback: () => void) => unknown;
  readonly wait?: (callback: () => void, ms: number) => unknown;
}

/** To print them takes half a millisecond. */
const BYTES = 131_072;
const BUSY_BYTES = 65_536;
/** How often an export waits while others are in flight, and for how many milliseconds at least. */
const WAITS = 2;
const WAIT_MS = 1;

/**
 * Makes the pace of an export. While other requests are in flight it takes less at once, and then leaves
 * the processor to them and to Postgres for some two milliseconds, or until they are answered: under any
 * load there are 20 MB in a second left for it.
 * @see EX25, docs/decisions/0069-exports-let-others-pass.md
 */
export function openPace(
  { isBusy, nextTick = onNextTick, wait = setTimeout }: PaceOptions,
): Pace {
  return {
    bytes: () => isBusy() ? BUSY_BYTES : BYTES,
    next(callback) {
      let waits = 0;
      nextTick(function go() {
        if (isBusy() && waits++ < WAITS) wait(go, WAIT_MS);
        else callback();
      });
    },
  };
}
