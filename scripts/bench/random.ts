/** Random choices that a seed determines. */
export interface Random {
  /** A whole number from the first to the last. */
  readonly whole: (first: number, last: number) => number;
  readonly chance: (probability: number) => boolean;
  readonly pick: <T>(list: readonly T[]) => T;
  /** So many different ones, in their order in the list. */
  readonly some: <T>(list: readonly T[], count: number) => T[];
}

/** Makes random choices; the same seed gives the same ones on every machine. */
export function openRandom(seed: number): Random {
  let state = seed >>> 0;

  /** A step of Weyl's sequence, mixed as in MurmurHash3: 0 up to 1. */
  function next(): number {
    state = state + 0x9e3779b9 >>> 0;
    let mixed = Math.imul(state ^ state >>> 16, 0x85ebca6b);
    mixed = Math.imul(mixed ^ mixed >>> 13, 0xc2b2ae35);
    return ((mixed ^ mixed >>> 16) >>> 0) / 2 ** 32;
  }

  const whole = (first: number, last: number) => first + Math.floor(next() * (last - first + 1));
  return {
    whole,
    chance: (probability) => next() < probability,
    pick: (list) => list[whole(0, list.length - 1)]!,
    some(list, count) {
      let left = Math.min(count, list.length);
      return list.filter((_, index) => next() * (list.length - index) < left && left-- > 0);
    },
  };
}
