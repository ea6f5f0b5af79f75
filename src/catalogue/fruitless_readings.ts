/** Failures that a reading of the catalogue did not end, so that the catalogue is not their cause. */
export interface FruitlessReadings {
  /** Remembers that a failure persisted after a reading. */
  readonly note: (failed: string) => void;
  /** Reports whether the same failure persisted after a reading less than the given time ago. */
  readonly has: (failed: string) => boolean;
}

/** Most failures that are remembered, since a trigger may raise any number of codes. */
const MAX_FRUITLESS = 1000;

/** Remembers fruitless readings for so many milliseconds of a clock. */
export function rememberFruitless(forMs: number, now: () => number): FruitlessReadings {
  const notedMs = new Map<string, number>();
  return {
    note(failed) {
      if (notedMs.size === MAX_FRUITLESS) notedMs.clear();
      notedMs.set(failed, now());
    },
    has: (failed) => now() - (notedMs.get(failed) ?? -Infinity) < forMs,
  };
}
