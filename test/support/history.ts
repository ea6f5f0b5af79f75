/** What a client did to one row, and when: between `start` and `end` it took place at one moment. */
export interface Event {
  readonly start: number;
  /** Infinity when the outcome is not known: it took place later, or not at all. */
  readonly end: number;
  readonly deed: Deed;
  /** Who did what, for the message of a failure. */
  readonly what: string;
}

/** The value of a row that does not exist. */
export const ABSENT = "absent";

/** A row as a register: what was done to its one value. A create and a delete swap it with {@link ABSENT}. */
export type Deed =
  | { readonly kind: "read"; readonly value: string }
  | { readonly kind: "write"; readonly value: string }
  /** A write of the row, if there is one. */
  | { readonly kind: "replace"; readonly value: string }
  /** A compare-and-set that succeeded. */
  | { readonly kind: "swap"; readonly from: string; readonly value: string }
  /** A compare-and-set that found another value. */
  | { readonly kind: "miss"; readonly from: string };

/** Events that took place, and the value that they left. */
interface Stage {
  /** All events before this one, by their start, took place. */
  readonly first: number;
  /** Those behind it that did, ascending. */
  readonly ahead: readonly number[];
  readonly value: string;
}

/**
 * Looks for an order of the events of one row in which each makes sense after the other, no event
 * before one that had ended when it began: the row is linearisable. It says nothing of the order of
 * events of different rows. Returns undefined when there is
 * one, else the events that none of the orders tried came to the end of.
 */
export function findUnexplained(
  events: readonly Event[],
  initial: string,
): readonly Event[] | undefined {
  const ordered = [...events].sort((a, b) => a.start - b.start);
  const stack: Stage[] = [{ first: 0, ahead: [], value: initial }];
  const seen = new Set<string>();
  let furthest = 0;
  let stuck: Stage | undefined;
  for (let stage = stack.pop(); stage !== undefined; stage = stack.pop()) {
    const key = `${stage.first} ${stage.ahead} ${stage.value}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const open = openEvents(ordered, stage);
    if (isOver(ordered, stage)) return undefined;
    const reached = stage.first + stage.ahead.length;
    if (reached >= furthest) [furthest, stuck] = [reached, stage];
    for (const index of open) {
      const value = perform(ordered[index]!.deed, stage.value);
      if (value !== undefined) stack.push(advance(stage, index, value));
    }
  }
  return stuck === undefined ? [] : openEvents(ordered, stuck).map((index) => ordered[index]!);
}

/** The events that may be next: begun before any that is still to come has ended. */
function openEvents(events: readonly Event[], { first, ahead }: Stage): number[] {
  const open: number[] = [];
  let soonest = Infinity;
  for (let index = first; index < events.length && events[index]!.start <= soonest; index++) {
    if (ahead.includes(index)) continue;
    open.push(index);
    soonest = Math.min(soonest, events[index]!.end);
  }
  return open;
}

/** True when only such events are left as may never have taken place. */
function isOver(events: readonly Event[], { first, ahead }: Stage): boolean {
  return events.every(({ end }, index) =>
    index < first || end === Infinity || ahead.includes(index)
  );
}

/** The value after a deed, undefined where the deed makes no sense. */
function perform(deed: Deed, value: string): string | undefined {
  switch (deed.kind) {
    case "read":
      return deed.value === value ? value : undefined;
    case "write":
      return deed.value;
    case "replace":
      return value === ABSENT ? undefined : deed.value;
    case "swap":
      return deed.from === value ? deed.value : undefined;
    case "miss":
      return deed.from === value ? undefined : value;
  }
}

function advance({ first, ahead }: Stage, index: number, value: string): Stage {
  const done = [...ahead, index].sort((a, b) => a - b);
  let next = first;
  while (done[0] === next) {
    done.shift();
    next++;
  }
  return { first: next, ahead: done, value };
}
