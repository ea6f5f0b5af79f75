import type { Position } from "./position.ts";
import type { LogState } from "./position.ts";

/** The history of the primary's log positions, as far as this process has asked. */
export interface PrimaryLog {
  /** Adds the state that the primary has just reported. */
  readonly note: (state: LogState, atMs: number) => void;
  /** The last reported state; undefined before the first. */
  readonly last: () => LogState | undefined;
  /** When the primary last reported; -Infinity before the first time. */
  readonly notedMs: () => number;
  /** For how many milliseconds a standby at this position has been behind; 0 if it has everything. */
  readonly lagOf: (bytes: bigint, nowMs: number) => number;
  /** Whether the newest known timeline contains the write at a position. */
  readonly holds: (position: Position) => "yes" | "no" | "unknown";
}

/** Samples that are kept: half an hour at two a second. */
const MAX_SAMPLES = 4096;

/**
 * Makes the history of a primary's log. It measures the lag of a standby without clocks, which may
 * differ, and without the time of the last transaction, which is old on an idle primary.
 */
export function openPrimaryLog(): PrimaryLog {
  const samples: { readonly atMs: number; readonly bytes: bigint }[] = [];
  /** The position at which each timeline began. */
  const forks = new Map<number, bigint>();
  let last: LogState | undefined;
  let notedMs = -Infinity;

  function note(state: LogState, atMs: number): void {
    notedMs = atMs;
    if (last !== undefined && state.timeline < last.timeline) return;
    if (last?.timeline !== state.timeline) samples.length = 0;
    if (state.forkedAt !== undefined) forks.set(state.timeline, state.forkedAt);
    last = state;
    if (samples.at(-1)?.bytes === state.bytes) samples.pop();
    samples.push({ atMs, bytes: state.bytes });
    if (samples.length > MAX_SAMPLES) samples.shift();
  }

  function lagOf(bytes: bigint, nowMs: number): number {
    const newest = samples.at(-1);
    if (newest === undefined) return Infinity;
    if (bytes >= newest.bytes) return 0;
    const reached = samples.findLast((sample) => sample.bytes <= bytes);
    return reached === undefined ? Infinity : nowMs - reached.atMs;
  }

  /** A write on an older timeline has survived if it is before every later fork. */
  function holds({ timeline, bytes }: Position): "yes" | "no" | "unknown" {
    if (last === undefined) return "unknown";
    if (timeline > last.timeline) return "unknown";
    if (timeline === last.timeline) return "yes";
    for (let next = timeline + 1; next <= last.timeline; next++) {
      const fork = forks.get(next);
      if (fork === undefined) return "unknown";
      if (bytes > fork) return "no";
    }
    return "yes";
  }

  return { note, last: () => last, notedMs: () => notedMs, lagOf, holds };
}
