/** Random numbers from a seed. */
export interface Random {
  /** From 0 to 1, 1 left out. */
  readonly next: () => number;
  readonly between: (low: number, high: number) => number;
  readonly pick: <T>(items: readonly T[]) => T;
}

/** Makes a generator that gives the same numbers for the same seed (mulberry32). */
export function seedRandom(seed: number): Random {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    between: (low, high) => low + next() * (high - low),
    pick: (items) => items[Math.floor(next() * items.length)]!,
  };
}
