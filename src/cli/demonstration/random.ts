/** A source of pseudorandom numbers: the same seed gives the same numbers on every runtime. */
export interface Random {
  /** An integer from `low` to `high`, both included. */
  readonly integer: (low: number, high: number) => number;
  /** An item of the list. */
  readonly pick: <T>(list: readonly T[]) => T;
  /** True with this probability. */
  readonly chance: (percent: number) => boolean;
}

/** Makes a source of numbers from a seed (mulberry32, which needs only 32-bit integers). */
export function seedRandom(seed: number): Random {
  let state = seed | 0;

  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }

  function integer(low: number, high: number): number {
    return low + next() % (high - low + 1);
  }

  function pick<T>(list: readonly T[]): T {
    return list[integer(0, list.length - 1)]!;
  }

  function chance(percent: number): boolean {
    return integer(1, 100) <= percent;
  }

  return { integer, pick, chance };
}
