import type { PendingQuery, Sql } from "postgres";

/** What is to be known of the superuser's statements. */
export interface AdminWatch {
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

/** Runs a query of the driver when it is waited for, as the driver does; describing it writes nothing. */
function beLazy<T extends object>(
  query: () => PendingQuery<T[]>,
  around: (run: () => PromiseLike<T[]>) => Promise<T[]>,
): PendingQuery<T[]> {
  const run = () => around(query);
  return {
    then: (...settled: Parameters<Promise<T[]>["then"]>) => run().then(...settled),
    catch: (...settled: Parameters<Promise<T[]>["catch"]>) => run().catch(...settled),
    finally: (...settled: Parameters<Promise<T[]>["finally"]>) => run().finally(...settled),
    describe: () => query().describe(),
  } as unknown as PendingQuery<T[]>;
}

/**
 * Watches a client of the tests, so that what the tests write themselves is not laid to the service:
 * before a statement that writes, what the service did so far is checked.
 */
export function watchAdmin(admin: Sql, watch: AdminWatch): Sql {
  const around = async <T>(run: () => PromiseLike<T>): Promise<T> => {
    await watch.beforeWrite();
    try {
      return await run();
    } finally {
      watch.afterWrite();
    }
  };
  return new Proxy(admin, {
    apply(target, self, parameters) {
      const [strings] = parameters;
      const run = () => Reflect.apply(target, self, parameters);
      const isStatement = Array.isArray(strings) && "raw" in strings;
      return isStatement && writes(strings.join(" ? ")) ? around(run) : run();
    },
    get(target, name) {
      const member = Reflect.get(target, name);
      if (name === "unsafe") {
        return (...parameters: Parameters<Sql["unsafe"]>) =>
          writes(parameters[0]) || parameters[0].includes(";")
            ? beLazy(() => target.unsafe(...parameters), around)
            : target.unsafe(...parameters);
      }
      if (name === "begin" || name === "file") {
        // deno-lint-ignore no-explicit-any -- whatever the driver takes
        return (...parameters: any[]) => around(() => member.apply(target, parameters));
      }
      if (name === "reserve") {
        return async () =>
          watchAdmin(await target.reserve(), {
            beforeWrite: () => Promise.resolve(watch.afterWrite()),
            afterWrite: watch.afterWrite,
          });
      }
      return member;
    },
  });
}
