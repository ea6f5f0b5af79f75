import { MAX_PREPARED_STATEMENTS } from "../errors/limits.ts";
import type { Compile } from "./database.ts";
import type { PendingQuery, Row, RowList, Sql } from "./driver.ts";
import { makeQuery } from "./driver.ts";
import { keepingOf } from "./kept_statements.ts";
import { type KnownText, openKnownTexts } from "./known_texts.ts";
import { openPreparedStatements } from "./prepared_statements.ts";
import { record } from "./statement_text.ts";

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

/**
 * Opens the cache of statements. It holds the texts that were sent more than once, each tenant's share of
 * 256, and these are prepared: each costs memory in each session of Postgres. Of as many texts that
 * were sent once it only remembers that they were. So one that is never sent again displaces none that
 * is. A session that has prepared 256 deallocates one that the cache has forgotten for each new one;
 * the command is sent in the same write.
 * @see P12
 * @see docs/decisions/0032-driver.md
 */
export function openStatementCache(
  { size = MAX_PREPARED_STATEMENTS, prepare = true, shared = false, onChange }:
    StatementCacheOptions = {},
): StatementCache {
  const texts = openKnownTexts(size, onChange);
  const prepared = openPreparedStatements({ size, shared });

  function compile<R extends Row>(sql: Sql, compile: Compile<R>, tenant?: string) {
    const recording = record(compile);
    const { parameters } = recording;
    const known = texts.find(recording, tenant);
    known.uses++;
    const statement = prepare && known.isCached ? prepared.prepare(sql, known) : undefined;
    return makeQuery<R>(sql, { text: known.text, parameters }, statement);
  }

  function prepareMissing(sql: Sql, most: number): readonly Preparation[] {
    if (!prepare || keepingOf(sql) !== "own") return [];
    return [...texts.cached()]
      .filter((known) => !prepared.has(sql, known))
      .sort((one, other) => other.uses - one.uses)
      .slice(0, most)
      .map((known) => () => prepareOne(sql, known));
  }

  function prepareOne(sql: Sql, known: KnownText): PromiseLike<RowList<Row[]>> {
    const statement = known.isCached ? prepared.prepare(sql, known) : undefined;
    if (statement === undefined) return Promise.resolve(NO_ROWS);
    const parameters = Array(known.parameters).fill(null);
    const query = makeQuery(sql, { text: known.text, parameters }, statement);
    return query.describe().then(() => NO_ROWS);
  }

  return { compile, prepareMissing };
}
