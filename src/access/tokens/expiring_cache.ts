/** A bounded number of values that expire. */
export interface ExpiringCache<T> {
  readonly get: (key: string) => T | undefined;
  /** Keeps a value until the given time of the clock. */
  readonly set: (key: string, value: T, untilMs: number) => void;
  readonly delete: (key: string) => void;
}

/** Size and clock of a cache. */
export interface ExpiringCacheOptions {
  readonly size: number;
  readonly now: () => number;
}

/** Opens a cache. When it is full, it drops the value that was set first. */
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

  return { get, set, delete: (key) => void kept.delete(key) };
}
