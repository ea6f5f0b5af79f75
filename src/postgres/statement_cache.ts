import { MAX_PREPARED_STATEMENTS } from "../errors/limits.ts";
import type { Compile } from "./database.ts";
import type { PendingQuery, PreparedStatement, Row, RowList, Sql } from "./driver.ts";
import { makeQuery } from "./driver.ts";
import { openFairCache } from "./fair_cache.ts";
import { keepingOf } from "./kept_statements.ts";
import { collapseSpace, isSame, record, type Recording } from "./statement_text.ts";

/** Makes the driver's queries, and decides which of them are prepared. */
export interface StatementCache {
  /**
   * Compiles a statement into one query of a session, for the tenant whose share of the cache it takes.
   * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
   */
  readonly compile: <R extends Row>(
    sql: Sql,
    compile: Compile<R>,
    tenant?: string,
  ) => PendingQuery<R[]>;
  /**
   * Lists what prepares in a session the statements that are used most and that it does not have, at
   * most so many.
   */
  readonly prepareMissing: (sql: Sql, most: number) => readonly Preparation[];
}

/** Prepares one statement and does not run it, hence gives no rows. */
export type Preparation = () => PromiseLike<RowList<Row[]>>;

const NO_ROWS = Object.assign([], { count: 0 }) as unknown as RowList<Row[]>;

/** The size of a cache, and what observes it. */
export interface StatementCacheOptions {
  /** Most texts that it knows, and most prepared statements of a session. */
  readonly size?: number;
  /** False behind a pooler that cannot keep prepared statements. */
  readonly prepare?: boolean;
  /** True where the sessions share one of Postgres, and hence the names of their statements. */
  readonly shared?: boolean;
  /** Called with the number of texts that are prepared when it changes. */
  readonly onChange?: (texts: number) => void;
}

/** A text that was sent. */
interface Known {
  readonly text: string;
  readonly parameters: number;
  uses: number;
  /** False for a text that was sent once so far, or that the cache has forgotten. */
  isCached: boolean;
}

/** What a session has prepared. */
interface Prepared {
  readonly statements: Map<Known, PreparedStatement>;
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
 * Opens the cache of statements. It holds the texts that were sent more than once, each tenant's share of
 * 256, and these are prepared: 3,000 would cost 85 MB in each session of Postgres. Of as many texts that
 * were sent once it only remembers that they were. So one that is never sent again displaces none that
 * is. A session that has prepared 256 deallocates one that the cache has forgotten for each new one; the
 * command is sent in the same write.
 * @see P12
 * @see docs/decisions/0033-prepared-statements.md
 */
export function openStatementCache(
  { size = MAX_PREPARED_STATEMENTS, prepare = true, shared = false, onChange }:
    StatementCacheOptions = {},
): StatementCache {
  const texts = openFairCache<Known>(size);
  const sentOnce = openFairCache<Known>(size);
  const recordings = new Map<TemplateStringsArray, { parts: Recording["parts"]; known: Known }[]>();
  const preparedIn = new WeakMap<Sql, Prepared>();
  let cachedTexts = 0;

  function find(recording: Recording, tenant: string | undefined): Known {
    const known = findByParts(recording);
    if (known === undefined) return findByText(recording, tenant);
    texts.touch(known, tenant);
    return known;
  }

  /** Moves frequently used recordings towards the front. */
  function findByParts({ first, parts }: Recording): Known | undefined {
    const all = recordings.get(first) ?? [];
    const place = all.findIndex((one) => isSame(one.parts, parts));
    if (place < 0) return undefined;
    const found = all[place]!;
    const ahead = place >> 1;
    [all[ahead], all[place]] = [found, all[ahead]!];
    return found.known;
  }

  function findByText(recording: Recording, tenant: string | undefined): Known {
    const text = recording.printText();
    const known = texts.get(text, tenant) ?? meet(text, recording.parameters.length, tenant);
    if (!known.isCached) return known;
    const { first, parts } = recording;
    const all = recordings.get(first) ?? [];
    // Most texts are recorded in one way, and none in many.
    if (all.length < 4 * size) all.push({ parts, known });
    recordings.set(first, all);
    return known;
  }

  /** Caches a text that was sent before, and otherwise remembers that it was sent. */
  function meet(text: string, parameters: number, tenant: string | undefined): Known {
    const known = sentOnce.take(text);
    if (known !== undefined) return add(text, known, tenant);
    const made = { text: collapseSpace(text.trim()), parameters, uses: 0, isCached: false };
    sentOnce.add(text, made, tenant);
    return made;
  }

  function add(text: string, known: Known, tenant: string | undefined): Known {
    known.isCached = true;
    const forgotten = texts.add(text, known, tenant);
    if (forgotten === undefined) onChange?.(++cachedTexts);
    else forget(forgotten);
    return known;
  }

  function forget(known: Known): void {
    known.isCached = false;
    for (const [first, all] of recordings) {
      const left = all.filter((one) => one.known !== known);
      if (left.length === 0) recordings.delete(first);
      else if (left.length < all.length) recordings.set(first, left);
    }
  }

  function findPrepared(sql: Sql): Prepared {
    const known = preparedIn.get(sql);
    if (known !== undefined) return known;
    // Always the same names, since pg_stat_statements has an entry for each command to deallocate one.
    // A pooler may show one session what another has prepared, so no two have the same there.
    const prefix = keepingOf(sql) === "shared"
      ? `s_${crypto.randomUUID()}_`
      : shared
      ? `s${++sharedSessions}_`
      : "s";
    const made = { statements: new Map(), prefix, freeNames: [], names: 0 };
    preparedIn.set(sql, made);
    return made;
  }

  /** Undefined where the session has no room, which it has again when the cache forgets a text. */
  function prepareIn(sql: Sql, known: Known): PreparedStatement | undefined {
    if (keepingOf(sql) === "none") return undefined;
    const prepared = findPrepared(sql);
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

  return {
    compile<R extends Row>(sql: Sql, compile: Compile<R>, tenant?: string) {
      const recording = record(compile);
      const { parameters } = recording;
      const known = find(recording, tenant);
      known.uses++;
      const statement = prepare && known.isCached ? prepareIn(sql, known) : undefined;
      return makeQuery<R>(sql, { text: known.text, parameters }, statement);
    },
    prepareMissing(sql, most) {
      if (!prepare || keepingOf(sql) !== "own") return [];
      return [...texts.values()]
        .filter((known) => !preparedIn.get(sql)?.statements.has(known))
        .sort((one, other) => other.uses - one.uses)
        .slice(0, most)
        .map((known) => () => {
          const statement = known.isCached ? prepareIn(sql, known) : undefined;
          if (statement === undefined) return Promise.resolve(NO_ROWS);
          const parameters = Array(known.parameters).fill(null);
          const query = makeQuery(sql, { text: known.text, parameters }, statement);
          return query.describe().then(() => NO_ROWS);
        });
    },
  };
}

/** Has Postgres forget a statement of a session, whose name is then free. */
function deallocate(sql: Sql, { statements, freeNames }: Prepared, known: Known): void {
  const { name, columns, fault } = statements.get(known)!;
  statements.delete(known);
  // Postgres may have it or not, and would reject either to prepare or to deallocate the name. A pooler
  // takes no such command: its session has room again when it is replaced.
  if (fault === "unknown" || keepingOf(sql) === "shared") return;
  freeNames.push(name);
  // Sent before whatever is sent next. It fails only when the session has ended, or no longer has it.
  if (columns !== undefined) sql`deallocate ${sql(name)}`.simple().catch(() => {});
}
