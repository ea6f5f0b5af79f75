/** A cache of bounded size, of which each tenant has a share. */
export interface FairCache<T extends object> {
  /** Returns the value of a key, and records that the tenant used it. */
  readonly get: (key: string, tenant: string | undefined) => T | undefined;
  /** Adds a value under a new key; returns the value that was evicted for it, if any. */
  readonly add: (key: string, value: T, tenant: string | undefined) => T | undefined;
  /** Removes a key, and returns its value. */
  readonly take: (key: string) => T | undefined;
  readonly values: () => Iterable<T>;
}

/** A value of the cache, with its owner and use. */
interface Entry<T> {
  readonly key: string;
  readonly value: T;
  /** The tenant whose share it takes: of those that use it, the one that holds the least. */
  owner: string | undefined;
  /** Time of the last use, counted in uses of the cache. */
  used: number;
}

/**
 * Opens a cache of `size` values. When it is full, the tenant that holds the most loses its least
 * recently used value; often that is the tenant which adds one. So a tenant with any number of keys
 * gets what the others leave, and tenants that hold less than an equal share lose nothing.
 * @see docs/decisions/0032-driver.md
 */
export function openFairCache<T extends object>(size: number): FairCache<T> {
  const entries = new Map<string, Entry<T>>();
  const held = new Map<string | undefined, number>();
  let uses = 0;

  function count(owner: string | undefined, by: 1 | -1): void {
    const left = (held.get(owner) ?? 0) + by;
    if (left === 0) held.delete(owner);
    else held.set(owner, left);
  }

  function use(entry: Entry<T>, tenant: string | undefined): T {
    entry.used = ++uses;
    // The share must be smaller by two: otherwise a value that tenants share would change its owner
    // with each use.
    if (entry.owner !== tenant && (held.get(tenant) ?? 0) + 1 < held.get(entry.owner)!) {
      count(entry.owner, -1);
      count(tenant, 1);
      entry.owner = tenant;
    }
    return entry.value;
  }

  function remove(entry: Entry<T>): T {
    entries.delete(entry.key);
    count(entry.owner, -1);
    return entry.value;
  }

  /** Finds the least recently used value of the tenant that holds the most. */
  function findVictim(): Entry<T> {
    const most = Math.max(...held.values());
    let victim: Entry<T> | undefined;
    for (const entry of entries.values()) {
      if (held.get(entry.owner) !== most) continue;
      if (victim === undefined || entry.used < victim.used) victim = entry;
    }
    return victim!;
  }

  return {
    get(key, tenant) {
      const entry = entries.get(key);
      return entry === undefined ? undefined : use(entry, tenant);
    },
    add(key, value, tenant) {
      const entry: Entry<T> = { key, value, owner: tenant, used: ++uses };
      entries.set(key, entry);
      count(tenant, 1);
      return entries.size > size ? remove(findVictim()) : undefined;
    },
    take(key) {
      const entry = entries.get(key);
      return entry === undefined ? undefined : remove(entry);
    },
    values: () => [...entries.values()].map(({ value }) => value),
  };
}
