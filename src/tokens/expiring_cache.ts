/** Values that are kept for a while; a bounded number of them. */
export interface ExpiringCache<T> {
  readonly get: (key: string) => T | undefined;
  /** Keeps a value until the given time of the clock. */
  readonly set: (key: string, value: T, untilMs: number) => void;
}

/** How many values are kept, and by which clock. */
export interface ExpiringCacheOptions {
  readonly size: number;
  readonly now: () => number;
}

/** Opens a cache that drops the value set longest ago when there are too many. */
export function openExpiringCache<T>({ size, now }: ExpiringCacheOptions): ExpiringCache<T> {
  const kept = new Map<string, { readonly value: T; readonly untilMs: number }>();

  function get(key: string): T | undefined {
    const found = kept.get(key);
    if (found === undefined) return undefined;
    if (now() < found.untilMs) return found.value;
    kept.delete(key);
    return undefined;
  }

  function set(key: string, value: T, untilMs: number): void {
    kept.delete(key);
    kept.set(key, { value, untilMs });
    if (kept.size <= size) return;
    for (const [oldest] of kept) {
      kept.delete(oldest);
      return;
    }
  }

  return { get, set };
}
