import { type BucketOptions, describeDraw, type Draw, holdsOne } from "./buckets.ts";
import type { Lease, LeaseQuestion } from "./rate_leases.ts";

/** The part of a key's bucket that this process holds. */
export interface Holding {
  /** Leased and not used. */
  held: number;
  /** What was left for all instances, at `atMs`. */
  level: number;
  atMs: number;
  usedMs: number;
  /** Until then, nothing is left for any instance. */
  emptyUntilMs: number;
  /** Used without a lease, and not reported yet. */
  owed: number;
  /** Requests that wait for a lease. */
  waiting: number;
  /** The pending request for a lease; it never rejects. */
  asking: Promise<void> | undefined;
}

/** The arithmetic of holdings under one limit. */
export interface HoldingRules {
  /** Makes the holding of a key that is used for the first time. */
  readonly open: () => Holding;
  /** What is left for all instances, as far as this process knows. */
  readonly levelOf: (holding: Holding) => number;
  /** Takes one of a lease, which must have one. */
  readonly take: (holding: Holding) => Draw;
  /** Takes none, since nothing is left for any instance. */
  readonly reject: (holding: Holding) => Draw;
  /** Takes one from a process's share of what was left when that was last known. */
  readonly takeShare: (holding: Holding, members: number) => Draw;
  /** Adds a lease to the holding that requested it. */
  readonly receive: (
    holding: Holding,
    lease: Lease,
    request: { readonly asked: LeaseQuestion; readonly sentMs: number },
  ) => void;
}

/** Least time between two requests for a key of which nothing is left. */
const EMPTY_MS = 50;

/** Makes the rules of a limit. */
export function createHoldingRules(
  { capacity, windowSeconds, now }: Omit<BucketOptions, "size">,
): HoldingRules {
  const perMs = capacity / (windowSeconds * 1000);

  function open(): Holding {
    const atMs = now();
    return {
      ...{ held: 0, level: capacity, atMs, usedMs: atMs },
      ...{ emptyUntilMs: -Infinity, owed: 0, waiting: 0, asking: undefined },
    };
  }

  function levelOf({ level, atMs }: Holding): number {
    return Math.min(capacity, level + (now() - atMs) * perMs);
  }

  function take(holding: Holding): Draw {
    holding.held--;
    return describe(holding, true);
  }

  function describe(holding: Holding, granted: boolean): Draw {
    return describeDraw(granted, Math.min(capacity, levelOf(holding) + holding.held), perMs);
  }

  function takeShare(holding: Holding, members: number): Draw {
    const share = Math.max(1, Math.floor(capacity / members));
    const part = share / capacity;
    const granted = holdsOne(levelOf(holding) * part);
    if (granted) {
      holding.level = Math.max(0, levelOf(holding) - 1 / part);
      holding.atMs = now();
      holding.owed = Math.min(capacity, holding.owed + 1);
    }
    return { share, ...describeDraw(granted, levelOf(holding) * part, perMs * part) };
  }

  function receive(
    holding: Holding,
    { granted, level }: Lease,
    { asked: { want, back }, sentMs }: { readonly asked: LeaseQuestion; readonly sentMs: number },
  ): void {
    holding.held += granted;
    holding.level = level;
    holding.atMs = sentMs;
    if (back < 0) holding.owed = Math.max(0, holding.owed + back);
    const isEmpty = granted < want && level < 1;
    holding.emptyUntilMs = isEmpty ? now() + Math.max(EMPTY_MS, (1 - level) / perMs) : -Infinity;
  }

  return {
    ...{ open, levelOf, take, takeShare, receive },
    reject: (holding) => describe(holding, false),
  };
}
