import { MAX_PREPARED_STATEMENTS } from "../../basics/errors/limits.ts";
import type { Compile } from "./database.ts";
import type { PendingQuery, PreparedStatement, Row, Sql } from "./driver.ts";
import { makeQuery } from "./driver.ts";
import { type FairCache, openFairCache } from "./fair_cache.ts";
import { keepingOf } from "./pooler.ts";
import { qualify } from "./qualify.ts";

/** The size of a cache of statements, and what observes it. */
export interface StatementsOptions {
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
interface KnownText {
  /** As it is sent. */
  readonly text: string;
  /** False for a text that was sent once so far, or that the cache has forgotten. */
  isCached: boolean;
}

/**
 * Makes the driver's queries, and decides which of them are prepared.
 *
 * A text is new, then sent once, then cached, and in the end forgotten:
 *
 * - sent once: of the latest 256 it is remembered that they were, so that one which is never sent
 *   again displaces none that is;
 * - cached, when it is sent again: it is prepared in each session that runs it, which costs memory in
 *   each. The cache holds 256, of which each tenant has a share;
 * - forgotten: a session that has prepared 256 deallocates it to make room for a new one, in the same
 *   write.
 * @see P12
 * @see docs/decisions/0032-driver.md
 */
export class Statements {
  readonly #options: Required<Pick<StatementsOptions, "size" | "prepare" | "shared">>;
  readonly #onChange: StatementsOptions["onChange"];
  readonly #cached: FairCache<KnownText>;
  readonly #sentOnce: FairCache<KnownText>;
  readonly #sessions = new WeakMap<Sql, SessionStatements>();
  #count = 0;

  constructor(
    { size = MAX_PREPARED_STATEMENTS, prepare = true, shared = false, onChange }:
      StatementsOptions = {},
  ) {
    this.#options = { size, prepare, shared };
    this.#onChange = onChange;
    this.#cached = openFairCache(size);
    this.#sentOnce = openFairCache(size);
  }

  /**
   * Compiles a statement into one query of a session, for the tenant whose share of the cache it takes.
   * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
   */
  compile<R extends Row>(sql: Sql, compile: Compile<R>, tenant?: string): PendingQuery<R[]> {
    const { text, parameters } = record(compile);
    const known = this.#cached.get(text, tenant) ?? this.#meet(text, tenant);
    return makeQuery<R>(sql, { text: known.text, parameters }, this.#prepare(sql, known));
  }

  /** Caches a text that was sent before, and otherwise remembers that it was sent. */
  #meet(text: string, tenant: string | undefined): KnownText {
    const known = this.#sentOnce.take(text);
    if (known === undefined) {
      const sent = qualify(collapseSpace(text.trim()));
      const met = { text: sent, isCached: false };
      this.#sentOnce.add(text, met, tenant);
      return met;
    }
    known.isCached = true;
    const forgotten = this.#cached.add(text, known, tenant);
    if (forgotten === undefined) this.#onChange?.(++this.#count);
    else forgotten.isCached = false;
    return known;
  }

  #prepare(sql: Sql, known: KnownText): PreparedStatement | undefined {
    if (!this.#options.prepare || !known.isCached || keepingOf(sql) === "none") return undefined;
    let session = this.#sessions.get(sql);
    if (session === undefined) {
      session = new SessionStatements(sql, this.#options);
      this.#sessions.set(sql, session);
    }
    return session.prepare(known);
  }
}

/** Sessions of all caches that share their Postgres: what one of them prepared outlives its cache. */
let sharedSessions = 0;

/** The statements that one session has prepared, or prepares when they are first sent. */
class SessionStatements {
  readonly #sql: Sql;
  readonly #size: number;
  /** What its names begin with. */
  readonly #prefix: string;
  readonly #statements = new Map<KnownText, PreparedStatement>();
  /** Names that no statement of the session has any more. */
  readonly #freeNames: string[] = [];
  /** Names that were ever given. */
  #names = 0;

  /**
   * Names are always the same, since pg_stat_statements has an entry for each command to deallocate
   * one. But a pooler may show one session what another has prepared, so no two have the same there.
   */
  constructor(sql: Sql, { size, shared }: { readonly size: number; readonly shared: boolean }) {
    this.#sql = sql;
    this.#size = size;
    if (keepingOf(sql) === "shared") this.#prefix = `s_${crypto.randomUUID()}_`;
    else this.#prefix = shared ? `s${++sharedSessions}_` : "s";
  }

  /** Returns the statement of a text; undefined if there is no room until the cache forgets one. */
  prepare(known: KnownText): PreparedStatement | undefined {
    const present = this.#statements.get(known);
    if (present !== undefined && present.fault === undefined) return present;
    if (present !== undefined) this.#deallocate(known, present);
    const name = this.#findName();
    if (name === undefined) return undefined;
    const made = { name };
    this.#statements.set(known, made);
    return made;
  }

  #findName(): string | undefined {
    if (this.#freeNames.length === 0 && this.#names < this.#size) {
      return `${this.#prefix}${++this.#names}`;
    }
    if (this.#freeNames.length === 0) {
      const forgotten = [...this.#statements].find(([known]) => !known.isCached);
      if (forgotten !== undefined) this.#deallocate(...forgotten);
    }
    return this.#freeNames.pop();
  }

  /** Has Postgres forget a statement, whose name is then free. */
  #deallocate(known: KnownText, { name, columns, fault }: PreparedStatement): void {
    const sql = this.#sql;
    this.#statements.delete(known);
    // Postgres may have it or not, and would reject either to prepare or to deallocate the name. A
    // pooler takes no such command: its session has room again when it is replaced.
    if (fault === "unknown" || keepingOf(sql) === "shared") return;
    this.#freeNames.push(name);
    // Sent before whatever is sent next. It fails only when the session has ended, or no longer has it.
    if (columns !== undefined) sql`deallocate ${sql(name)}`.simple().catch(() => {});
  }
}

/** A statement as it was written, with `$1` and so on for its parameters. */
export interface Recording {
  readonly text: string;
  readonly parameters: readonly (string | null)[];
}

/**
 * Compiles a statement with a tag that only records, because the driver's tag makes a promise of every
 * fragment, of which a look-up by key has forty.
 * @throws {TypeError} when a parameter is neither string nor null: the driver would guess its type
 * @see docs/decisions/0032-driver.md
 */
export function record<R extends Row>(compile: Compile<R>): Recording {
  const parameters: (string | null)[] = [];
  const text = print(compile(RECORD) as unknown as Template, parameters);
  return { text, parameters };
}

/** A template, with its parameters and nested templates. */
interface Template {
  readonly mark: typeof MARK;
  readonly strings: TemplateStringsArray;
  readonly values: readonly unknown[];
}

/** Only this file has the object, so no value of a request can pass for a fragment. */
const MARK = Object.freeze({});

/** Stands in for the driver's tag. */
const RECORD = ((strings: TemplateStringsArray, ...values: unknown[]): Template => {
  return { mark: MARK, strings, values };
}) as unknown as Sql;

function print({ strings, values }: Template, parameters: (string | null)[]): string {
  let text = strings[0]!;
  for (let place = 0; place < values.length; place++) {
    const value = values[place];
    if (value === null || typeof value === "string") text += `$${parameters.push(value)}`;
    else if (isTemplate(value)) text += print(value, parameters);
    else throw new TypeError(`a parameter must be string or null, not ${typeof value}`);
    text += strings[place + 1]!;
  }
  return text;
}

function isTemplate(value: unknown): value is Template {
  return typeof value === "object" && value !== null && (value as Template).mark === MARK;
}

/** Quoted names and strings, which are left unchanged, and white space, by the character beside it. */
const QUOTED_OR_SPACE = /("[^"]*"|'[^']*')|(\()\s+|(\s+(?=[),]))|\s+/g;

/**
 * Collapses the white space of SQL outside of quotes, so that a statement that is written over several
 * lines costs neither the network nor the parser of Postgres more than one that is not. The text must
 * have no comments.
 */
export function collapseSpace(text: string): string {
  return text.replace(
    QUOTED_OR_SPACE,
    (_all, quoted?: string, open?: string, space?: string) =>
      quoted ?? open ?? (space === undefined ? " " : ""),
  );
}
