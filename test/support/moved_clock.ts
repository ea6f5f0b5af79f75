/** A clock that runs on, and that a test moves ahead. */
export interface MovedClock {
  readonly now: () => number;
  readonly move: (ms: number) => void;
}

/** Makes a clock that shows the time until it is moved. */
export function makeClock(): MovedClock {
  let movedMs = 0;
  return { now: () => performance.now() + movedMs, move: (ms) => void (movedMs += ms) };
}
