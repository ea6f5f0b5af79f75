/** A cache of bounded size, of which each tenant has a share. */
export interface FairCache<T extends object> {
  /** Gives what a key stands for, and notes that the tenant has used it. */
  readonly get: (key: string, tenant: string | undefined) => T | undefined;
  /** Adds a value that it does not hold yet; gives the one that had to go. */
  readonly add: (key: string, value: T, tenant: string | undefined) => T | undefined;
  /** Notes that a tenant has used a value, which may have gone meanwhile. */
  readonly touch: (value: T, tenant: string | undefined) => void;
  readonly values: () => Iterable<T>;
}

/** What a cache knows of a value that it holds. */
interface Entry<T> {
  readonly key: string;
  readonly value: T;
  /** The tenant whose share it takes, of those that use it: the one with the smallest. */
  owner: string | undefined;
  /** When it was used last, counted in uses of the cache. */
  used: number;
}

/**
 * Opens a cache of `size` values. When it is full, the tenant that holds most of them loses the value that
 * it has not used for longest: often the tenant that adds one. So a tenant with any number of keys has
 * what the others leave, and those that hold less than an equal share lose nothing.
 * @see docs/decisions/0033-prepared-statements.md
 */
export function openFairCache<T extends object>(size: number): FairCache<T> {
  const entries = new Map<string, Entry<T>>();
  const entryOf = new Map<T, Entry<T>>();
  const held = new Map<string | undefined, number>();
  let uses = 0;

  function count(owner: string | undefined, by: 1 | -1): void {
    const left = (held.get(owner) ?? 0) + by;
    if (left === 0) held.delete(owner);
    else held.set(owner, left);
  }

  function use(entry: Entry<T>, tenant: string | undefined): T {
    entry.used = ++uses;
    // By one less, so that what few tenants share does not change hands with each use.
    if (entry.owner !== tenant && (held.get(tenant) ?? 0) + 1 < held.get(entry.owner)!) {
      count(entry.owner, -1);
      count(tenant, 1);
      entry.owner = tenant;
    }
    return entry.value;
  }

  function remove(entry: Entry<T>): T {
    entries.delete(entry.key);
    entryOf.delete(entry.value);
    count(entry.owner, -1);
    return entry.value;
  }

  /** The least recently used value of the tenant that holds most. */
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
      entryOf.set(value, entry);
      count(tenant, 1);
      return entries.size > size ? remove(findVictim()) : undefined;
    },
    touch(value, tenant) {
      const entry = entryOf.get(value);
      if (entry !== undefined) use(entry, tenant);
    },
    values: () => entryOf.keys(),
  };
}
