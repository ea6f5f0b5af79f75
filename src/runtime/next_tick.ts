/**
 * Calls back once all has been taken up that arrived in this turn of the event loop. Node, Deno and
 * Bun have it under this name; where nobody has, the next timer does.
 */
export const afterTurn: (then: () => void) => unknown =
  (globalThis as { setImmediate?: (then: () => void) => unknown }).setImmediate ??
    ((then) => setTimeout(then));
