/** How often something may be done: `capacity` times in a window, and as often in one burst. */
export interface BucketOptions {
  /** Size of a bucket, which refills in one window. */
  readonly capacity: number;
  readonly windowSeconds: number;
  /** Buckets that are kept; the one used longest ago is dropped first. */
  readonly size: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** The result of one attempt. */
export interface Draw {
  readonly granted: boolean;
  /** Whole attempts that are left now. */
  readonly remaining: number;
  /** Whole seconds, at least 1, until there is one more. */
  readonly nextSeconds: number;
}

/** A token bucket for each key. */
export interface Buckets {
  /** Takes one from the key's bucket if it holds one; an attempt that is not granted costs nothing. */
  readonly draw: (key: string) => Draw;
}

interface Bucket {
  level: number;
  atMs: number;
}

/** Tolerance for rounding errors of fractions. */
const TOLERANCE = 1e-6;

/** Reports whether a bucket holds at least one. */
export function holdsOne(level: number): boolean {
  return level + TOLERANCE >= 1;
}

/** Describes an attempt, from the level that it leaves and the inflow per millisecond. */
export function describeDraw(granted: boolean, level: number, perMs: number): Draw {
  // A rejected attempt reports 0, even if the bucket holds a fraction.
  const remaining = granted ? Math.floor(level + TOLERANCE) : 0;
  const nextMs = (remaining + 1 - level) / perMs;
  return { granted, remaining, nextSeconds: Math.max(1, Math.ceil(nextMs / 1000 - TOLERANCE)) };
}

/**
 * Opens token buckets, each full at first. Memory is bounded: a dropped bucket starts full again, in
 * favour of the client.
 */
export function openBuckets({ capacity, windowSeconds, size, now }: BucketOptions): Buckets {
  const perMs = capacity / (windowSeconds * 1000);
  const kept = new Map<string, Bucket>();

  function draw(key: string): Draw {
    const bucket = fill(key);
    const granted = holdsOne(bucket.level);
    if (granted) bucket.level = Math.max(0, bucket.level - 1);
    return describeDraw(granted, bucket.level, perMs);
  }

  function fill(key: string): Bucket {
    const atMs = now();
    const found = kept.get(key);
    const elapsedMs = found === undefined ? 0 : Math.max(0, atMs - found.atMs);
    const level = found === undefined
      ? capacity
      : Math.min(capacity, found.level + elapsedMs * perMs);
    const bucket = { level, atMs };
    kept.delete(key);
    kept.set(key, bucket);
    if (kept.size > size) dropOldest();
    return bucket;
  }

  function dropOldest(): void {
    for (const [oldest] of kept) {
      kept.delete(oldest);
      return;
    }
  }

  return { draw };
}
