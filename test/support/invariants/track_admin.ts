import type { PendingQuery, Sql } from "../../../src/postgres/driver.ts";

/** What is to be known of the superuser's statements. */
export interface AdminTracker {
  /** Settles before a statement that may write is sent. */
  readonly beforeWrite: () => Promise<void>;
  /** Another session may write from now on, whenever it wants. */
  readonly afterWrite: () => void;
}

/** What a statement begins with that surely reads, or is no statement but a part of one. */
const READS =
  /^\s*(select|show|explain|listen|set\s+(local|session)?\s*\w|begin\b|where|and|or|from|order|\w+\s*=|,|$)/i;
const WRITES =
  /\b(insert\s+into|update\s+\S+\s+(as\s+)?\S*\s*set|delete\s+from|truncate|alter|create|drop|setval|pg_sleep|commit|rollback|refresh|grant|revoke|do\s+\$|call|cluster|vacuum)\b|\bset\b[^;]*=/i;

function writes(text: string): boolean {
  return !READS.test(text) || WRITES.test(text);
}

/**
 * Has a query of the driver run in `around` when it is waited for. It stays what it is, since it may
 * only be described, or be a part of another one.
 */
function beLazy<T extends object>(
  query: PendingQuery<T[]>,
  around: <R>(run: () => PromiseLike<R>) => Promise<R>,
): PendingQuery<T[]> {
  const start = query.then.bind(query);
  const then: typeof query.then = (...settled) =>
    around(() => new Promise<T[]>((resolve, reject) => void start(resolve as () => void, reject)))
      .then(...settled as []);
  return Object.assign(query, {
    then,
    catch: (failed: () => void) => then(undefined, failed),
    finally: (settled: () => void) => Promise.resolve(query).finally(settled),
  });
}

/**
 * Watches a client of the tests, so that what the tests write themselves is not laid to the service:
 * before a statement that writes, what the service did so far is checked.
 */
export function trackAdmin(admin: Sql, watch: AdminTracker): Sql {
  let writing = 0;
  const around = async <T>(run: () => PromiseLike<T>): Promise<T> => {
    // What another one of these has written would be laid to the service.
    if (writing++ > 0) watch.afterWrite();
    else await watch.beforeWrite();
    try {
      return await run();
    } finally {
      writing--;
      watch.afterWrite();
    }
  };
  return new Proxy(admin, {
    apply(target, self, parameters) {
      const [strings] = parameters;
      const run = () => Reflect.apply(target, self, parameters);
      const isStatement = Array.isArray(strings) && "raw" in strings;
      return isStatement && writes(strings.join(" ? ")) ? beLazy(run(), around) : run();
    },
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name === "unsafe") {
        return (...parameters: Parameters<Sql["unsafe"]>) =>
          writes(parameters[0]) || parameters[0].includes(";")
            ? beLazy(target.unsafe(...parameters), around)
            : target.unsafe(...parameters);
      }
      if (name === "begin" || name === "file") {
        // deno-lint-ignore no-explicit-any -- whatever the driver takes
        return (...parameters: any[]) => around(() => member.apply(target, parameters));
      }
      if (name === "reserve") {
        return async () =>
          trackAdmin(await target.reserve(), {
            beforeWrite: () => Promise.resolve(watch.afterWrite()),
            afterWrite: watch.afterWrite,
          });
      }
      return member;
    },
  });
}
