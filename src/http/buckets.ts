/** How often something may be done: `capacity` times in a window, and as often in one burst. */
export interface BucketOptions {
  /** What a full bucket holds, and what flows in during one window. */
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
  /** The share of the limit that was applied, where it was not all of it. */
  readonly share?: number;
  /** Whole attempts that are left now. */
  readonly remaining: number;
  /** Whole seconds, at least 1, until there is one more. */
  readonly nextSeconds: number;
}

/** A token bucket for each key. */
export interface Buckets {
  /** Takes one from the key's bucket when it holds one; an attempt that is not granted costs nothing. */
  readonly draw: (key: string) => Draw;
}

interface Bucket {
  level: number;
  atMs: number;
}

/** Rounding error of sums of fractions. */
const TOLERANCE = 1e-6;

/**
 * Opens token buckets, each full at first. One that was dropped is full again: memory is bounded, and
 * the error is in favour of the client.
 */
export function openBuckets({ capacity, windowSeconds, size, now }: BucketOptions): Buckets {
  const perMs = capacity / (windowSeconds * 1000);
  const kept = new Map<string, Bucket>();

  function draw(key: string): Draw {
    const bucket = fill(key);
    const granted = bucket.level + TOLERANCE >= 1;
    if (granted) bucket.level = Math.max(0, bucket.level - 1);
    const remaining = Math.floor(bucket.level + TOLERANCE);
    const nextMs = (remaining + 1 - bucket.level) / perMs;
    return { granted, remaining, nextSeconds: Math.max(1, Math.ceil(nextMs / 1000 - TOLERANCE)) };
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
