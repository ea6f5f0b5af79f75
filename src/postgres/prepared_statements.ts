import type { PreparedStatement, Sql } from "./driver.ts";
import { keepingOf } from "./kept_statements.ts";
import type { KnownText } from "./known_texts.ts";

/** The statements that each session has prepared. */
export interface PreparedStatements {
  /** Reports whether a session has prepared a text, or will when it is first sent. */
  readonly has: (sql: Sql, known: KnownText) => boolean;
  /**
   * Returns a session's statement for a text. Undefined where the session has no room, which it has
   * again when the cache forgets a text.
   */
  readonly prepare: (sql: Sql, known: KnownText) => PreparedStatement | undefined;
}

/** How many statements a session has, and how they are named. */
export interface PreparedOptions {
  /** Most prepared statements of a session. */
  readonly size: number;
  /** True where the sessions share one of Postgres, and hence the names of their statements. */
  readonly shared: boolean;
}

/** What a session has prepared. */
interface Prepared {
  readonly statements: Map<KnownText, PreparedStatement>;
  /** What its names begin with. */
  readonly prefix: string;
  /** Names that no statement of the session has any more. */
  readonly freeNames: string[];
  /** Names that were ever given. */
  names: number;
}

/** Sessions of all caches that share their Postgres: what one of them prepared outlives its cache. */
let sharedSessions = 0;

/**
 * Keeps what sessions have prepared. A session with no room deallocates one that the cache has
 * forgotten for each new one; the command is sent in the same write.
 */
export function openPreparedStatements({ size, shared }: PreparedOptions): PreparedStatements {
  const preparedIn = new WeakMap<Sql, Prepared>();

  return { has: (sql, known) => preparedIn.get(sql)?.statements.has(known) ?? false, prepare };

  function prepare(sql: Sql, known: KnownText): PreparedStatement | undefined {
    if (keepingOf(sql) === "none") return undefined;
    const prepared = preparedOf(sql);
    const { statements } = prepared;
    const present = statements.get(known);
    if (present !== undefined && present.fault === undefined) return present;
    if (present !== undefined) deallocate(sql, prepared, known);
    const name = findName(sql, prepared);
    if (name === undefined) return undefined;
    const made = { name };
    statements.set(known, made);
    return made;
  }

  function preparedOf(sql: Sql): Prepared {
    const present = preparedIn.get(sql);
    if (present !== undefined) return present;
    const made = { statements: new Map(), prefix: choosePrefix(sql), freeNames: [], names: 0 };
    preparedIn.set(sql, made);
    return made;
  }

  /**
   * Names are always the same, since pg_stat_statements has an entry for each command to deallocate
   * one. But a pooler may show one session what another has prepared, so no two have the same there.
   */
  function choosePrefix(sql: Sql): string {
    if (keepingOf(sql) === "shared") return `s_${crypto.randomUUID()}_`;
    return shared ? `s${++sharedSessions}_` : "s";
  }

  function findName(sql: Sql, prepared: Prepared): string | undefined {
    if (prepared.freeNames.length === 0 && prepared.names < size) {
      return `${prepared.prefix}${++prepared.names}`;
    }
    if (prepared.freeNames.length === 0) {
      for (const known of prepared.statements.keys()) {
        if (known.isCached) continue;
        deallocate(sql, prepared, known);
        break;
      }
    }
    return prepared.freeNames.pop();
  }
}

/** Has Postgres forget a statement of a session, whose name is then free. */
function deallocate(sql: Sql, { statements, freeNames }: Prepared, known: KnownText): void {
  const { name, columns, fault } = statements.get(known)!;
  statements.delete(known);
  // Postgres may have it or not, and would reject either to prepare or to deallocate the name. A pooler
  // takes no such command: its session has room again when it is replaced.
  if (fault === "unknown" || keepingOf(sql) === "shared") return;
  freeNames.push(name);
  // Sent before whatever is sent next. It fails only when the session has ended, or no longer has it.
  if (columns !== undefined) sql`deallocate ${sql(name)}`.simple().catch(() => {});
}
