/** How often something may be done: so many times in a window, and as a burst at most. */
export interface BucketOptions {
  /** What a full bucket holds, and what runs in during one window. */
  readonly capacity: number;
  readonly windowSeconds: number;
  /** Buckets that are remembered; the one that was used longest ago is forgotten first. */
  readonly size: number;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
}

/** What a bucket says to one attempt. */
export interface Draw {
  readonly granted: boolean;
  /** Whole attempts that are left now. */
  readonly remaining: number;
  /** Whole seconds, at least 1, until there is one more. */
  readonly nextSeconds: number;
}

/** One token bucket a key. */
export interface Buckets {
  /** Takes one from the key's bucket when it holds one; an attempt that is refused costs nothing. */
  readonly draw: (key: string) => Draw;
}

interface Bucket {
  level: number;
  atMs: number;
}

/** What sums of fractions may be off by. */
const TOLERANCE = 1e-6;

/**
 * Opens token buckets, each full at first. What is forgotten is full again: memory is bounded, and
 * the error is in favour of the key.
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
    if (kept.size > size) forgetOldest();
    return bucket;
  }

  function forgetOldest(): void {
    for (const [oldest] of kept) {
      kept.delete(oldest);
      return;
    }
  }

  return { draw };
}
