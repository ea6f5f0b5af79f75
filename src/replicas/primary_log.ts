import type { Position } from "./position.ts";
import type { LogState } from "./position.ts";

/** Where the log of the primary was when, as far as this process has asked. */
export interface PrimaryLog {
  /** Takes what the primary has just said. */
  readonly note: (state: LogState, atMs: number) => void;
  /** What it said last; undefined as long as it said nothing. */
  readonly last: () => LogState | undefined;
  /** For how many milliseconds a standby at this place has been behind; 0 when it has everything. */
  readonly lagOf: (bytes: bigint, nowMs: number) => number;
  /** Whether the newest timeline that is known has what was written at a position. */
  readonly holds: (position: Position) => "yes" | "no" | "unknown";
}

/** Samples that are kept: at two a second, those of half an hour. */
const MAX_SAMPLES = 4096;

/**
 * Makes the memory of a primary's log. The lag of a standby is measured by it and not by clocks, which
 * may differ, nor by the last transaction, which is old on a quiet primary.
 */
export function openPrimaryLog(): PrimaryLog {
  const samples: { readonly atMs: number; readonly bytes: bigint }[] = [];
  /** Where each timeline began. */
  const forks = new Map<number, bigint>();
  let last: LogState | undefined;

  function note(state: LogState, atMs: number): void {
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

  /** What was written on an older timeline has survived where it lies before each fork since. */
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

  return { note, last: () => last, lagOf, holds };
}
