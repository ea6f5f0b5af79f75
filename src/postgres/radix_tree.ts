/** Values by sequences of steps; sequences that begin alike share what they have alike. */
export interface RadixTree<Step, Value> {
  readonly get: (steps: readonly Step[]) => Value | undefined;
  readonly set: (steps: readonly Step[], value: Value) => void;
}

/** A stretch of steps without a fork, and what comes behind its last. */
interface Stretch<Step, Value> {
  readonly steps: readonly Step[];
  readonly value: Value | undefined;
  /** By their first steps. */
  readonly next: Map<Step, Stretch<Step, Value>>;
}

/**
 * Makes a radix tree: a sequence of fifty steps that is one of few is found by comparing, with a look
 * into a map at each fork alone. A map for each step took 5 MB for 500 sequences.
 */
export function openRadixTree<Step, Value>(): RadixTree<Step, Value> {
  let root: Stretch<Step, Value> = { steps: [], value: undefined, next: new Map() };

  function insert(
    stretch: Stretch<Step, Value>,
    steps: readonly Step[],
    value: Value,
  ): Stretch<Step, Value> {
    const shared = countShared(stretch.steps, steps);
    if (shared < stretch.steps.length) return insert(fork(stretch, shared), steps, value);
    if (shared === steps.length) return { ...stretch, value };
    const rest = steps.slice(shared);
    const next = stretch.next.get(rest[0]!);
    stretch.next.set(
      rest[0]!,
      next === undefined ? { steps: rest, value, next: new Map() } : insert(next, rest, value),
    );
    return stretch;
  }

  return {
    get(steps) {
      let at = 0;
      let stretch: Stretch<Step, Value> | undefined = root;
      while (stretch !== undefined) {
        for (const step of stretch.steps) if (steps[at++] !== step) return undefined;
        if (at === steps.length) return stretch.value;
        stretch = stretch.next.get(steps[at]!);
      }
      return undefined;
    },
    set(steps, value) {
      root = insert(root, steps, value);
    },
  };
}

function countShared<Step>(one: readonly Step[], other: readonly Step[]): number {
  const differs = one.findIndex((step, place) => step !== other[place]);
  return differs < 0 ? Math.min(one.length, other.length) : differs;
}

/** Ends a stretch earlier; what was behind it is the one way on. */
function fork<Step, Value>(
  { steps, value, next }: Stretch<Step, Value>,
  at: number,
): Stretch<Step, Value> {
  const rest = { steps: steps.slice(at), value, next };
  return { steps: steps.slice(0, at), value: undefined, next: new Map([[rest.steps[0]!, rest]]) };
}
