import type { PendingQuery, Sql } from "../../../src/database/postgres/driver.ts";

/** What is called around the superuser's statements. */
export interface AdminTracker {
  /** Is awaited before a statement that may write is sent. */
  readonly beforeWrite: () => Promise<void>;
  /** Another session may write at any time from now on. */
  readonly afterWrite: () => void;
}

/** The beginnings of statements that only read, and of parts of statements. */
const READS =
  /^\s*(select|show|explain|listen|set\s+(local|session)?\s*\w|begin\b|where|and|or|from|order|\w+\s*=|,|$)/i;
const WRITES =
  /\b(insert\s+into|update\s+\S+\s+(as\s+)?\S*\s*set|delete\s+from|truncate|alter|create|drop|setval|pg_sleep|commit|rollback|refresh|grant|revoke|do\s+\$|call|cluster|vacuum)\b|\bset\b[^;]*=/i;

function writes(text: string): boolean {
  return !READS.test(text) || WRITES.test(text);
}

/**
 * Has a query of the driver run in `around` when it is awaited. It stays a query of the driver, since it
 * may only be described, or be a part of another one.
 */
function runLazily<T extends object>(
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
 * Tracks what a client of the tests writes, so that it is not taken for a write of the service: before a
 * statement that writes, what the service did so far is checked.
 */
export function trackAdmin(admin: Sql, tracker: AdminTracker): Sql {
  let writing = 0;
  const around = async <T>(run: () => PromiseLike<T>): Promise<T> => {
    // What another of these statements wrote would be taken for a write of the service.
    if (writing++ > 0) tracker.afterWrite();
    else await tracker.beforeWrite();
    try {
      return await run();
    } finally {
      writing--;
      tracker.afterWrite();
    }
  };
  return new Proxy(admin, {
    apply(target, self, parameters) {
      const [strings] = parameters;
      const run = () => Reflect.apply(target, self, parameters);
      const isStatement = Array.isArray(strings) && "raw" in strings;
      return isStatement && writes(strings.join(" ? ")) ? runLazily(run(), around) : run();
    },
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name === "unsafe") {
        return (...parameters: Parameters<Sql["unsafe"]>) =>
          writes(parameters[0]) || parameters[0].includes(";")
            ? runLazily(target.unsafe(...parameters), around)
            : target.unsafe(...parameters);
      }
      if (name === "begin" || name === "file") {
        // deno-lint-ignore no-explicit-any -- whatever the driver takes
        return (...parameters: any[]) => around(() => member.apply(target, parameters));
      }
      if (name === "reserve") {
        return async () =>
          trackAdmin(await target.reserve(), {
            beforeWrite: () => Promise.resolve(tracker.afterWrite()),
            afterWrite: tracker.afterWrite,
          });
      }
      return member;
    },
  });
}
