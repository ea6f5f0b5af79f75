/**
 * The one file that imports postgres.js, and the one that uses members that postgres.js does not
 * document. Each such place is a point with a number: it says what the driver does, why the service
 * needs it, and what that is worth. `test/unit/postgres/driver_contract.test.ts` tests each point
 * against the installed version, and says what to do on the day that one fails. Where another file
 * relies on how the driver behaves, it says so.
 * @see docs/decisions/0032-driver.md
 */
import postgres from "postgres";
import type { Options, PendingQuery, PostgresType, Row, RowList, Sql } from "postgres";
import { MAX_PIPELINED_STATEMENTS } from "../../basics/errors/limits.ts";

export type { Fragment, PendingQuery, ReservedSql, Row, RowList, Sql } from "postgres";

/** What the driver and a session need of a socket. */
export interface DriverSocket {
  readonly on: (event: string, listener: (value?: unknown) => void) => unknown;
  readonly write: (data: Uint8Array) => unknown;
  readonly end: (data: Uint8Array) => unknown;
  readonly destroy: () => unknown;
  /** Calls the listeners of an event; `tapRows` replaces it while rows are streamed. */
  emit: (event: string, ...values: unknown[]) => unknown;
  /** Pause and resume the events with data. */
  readonly pause?: () => unknown;
  readonly resume?: () => unknown;
}

/** Takes the channel and the payload of a notification. */
export type OnNotify = (channel: string, payload: string) => void;

/** Options of the one session that a client of the driver opens. */
export interface ClientOptions {
  /** Returns the socket of the one session; the driver awaits a promise. */
  readonly socket: () => DriverSocket;
  readonly user: string | undefined;
  /** The driver calls a function when the server asks for the password. */
  readonly password: string | (() => Promise<string>) | undefined;
  readonly database: string | undefined;
  /** Settings that the session starts with. */
  readonly connection?: Readonly<Record<string, string>>;
  /** False behind a pooler that cannot keep prepared statements. */
  readonly prepare?: boolean;
  /** Called with the channel of each notification. */
  readonly onnotify?: OnNotify | undefined;
}

/**
 * Makes a client of the driver with one session.
 *
 * Point 1: three options that its types leave out. `socket` is in its README. `max_pipeline` is how many
 * statements may be under way on the session. `onnotify` is called for each notification; the public
 * `listen` opens a client of its own, which reconnects for ever.
 */
export function openClient(options: ClientOptions): Sql {
  return postgres({ ...CLIENT_OPTIONS, ...options } as unknown as PublicOptions) as Sql;
}

type PublicOptions = Options<Record<string, PostgresType>>;

const CLIENT_OPTIONS = {
  // Only used in messages of the driver, since the socket is ours.
  host: "database",
  port: 0,
  max: 1,
  // No statement waits behind a slow one, because a session is lent to one statement, batch or
  // transaction.
  max_pipeline: MAX_PIPELINED_STATEMENTS,
  // Nothing would handle a failure of that query.
  // @see D10
  fetch_types: false,
  types: {
    // JSON stays as Postgres printed it.
    json: { to: 114, from: [114], serialize: String, parse: String },
    // A `Date` has no microseconds. @see D1
    date: { to: 1184, from: [1082, 1114, 1184], serialize: String, parse: String },
  },
  // The socket has its own time limit and encryption.
  connect_timeout: 0,
  idle_timeout: 0,
  max_lifetime: null,
  ssl: false,
  onnotice: () => {},
  debug: false,
} as const;

/** The members of a query that the driver's types leave out. */
interface QueryInternals {
  readonly options: { prepare?: boolean };
  readonly handler: unknown;
  readonly canceller: unknown;
}

/**
 * Keeps a query from being prepared, on a client that prepares.
 *
 * Point 2: `prepare` in the options of a tagged query. The statement that opens a session runs only
 * once.
 */
export function skipPrepare<R extends Row>(query: PendingQuery<R[]>): PendingQuery<R[]> {
  (query as unknown as QueryInternals).options.prepare = false;
  return query;
}

/** A statement that a session has prepared, or prepares when it is first sent. */
export interface PreparedStatement {
  /** Its name in the session. */
  readonly name: string;
  /** Filled in by the driver: the text until it is sent, and the types of the parameters. */
  string?: string;
  types?: readonly number[];
  /** The columns of its rows, after Postgres has prepared it. */
  columns?: readonly unknown[];
  /** Why it must not be used again: its plan is outdated, or it is unknown whether Postgres has it. */
  fault?: "outdated" | "unknown";
}

/** A statement as it is sent to Postgres. */
export interface StatementText {
  /** With `$1` and so on for the parameters. */
  readonly text: string;
  readonly parameters: readonly (string | null)[];
}

/**
 * Makes a query of a text. It is prepared under the given name; without a name it is not prepared.
 *
 * Point 3: the constructor of a query. The tag keeps every template that it has ever seen, and the
 * driver every statement that it has prepared and the text of every `unsafe` that has failed (3.4.9),
 * while clients can cause any number of texts. So a query is made of a text as `unsafe` would make
 * it, and of a subclass that says by itself what the driver would otherwise look up in what it keeps:
 *
 * - `origin`, where the query was made, for the stack of its error: nothing.
 * - `describeFirst`, where it is not prepared: whether the types of the parameters are asked for
 *   before they are sent. They are texts in any case, so that it takes one round trip and not two.
 * - `signature`, by which a session knows its statements: always the same, so that it knows one.
 * - `statement`: ours. So its name is known, and another statement can take its place.
 * - `prepared`: whether Postgres has it; false once the query was sent. The driver sends a statement
 *   again whose plan is out of date, and two of a pipeline that it does so with wait for each other
 *   for ever.
 */
export function makeQuery<R extends Row>(
  sql: Sql,
  { text, parameters }: StatementText,
  statement?: PreparedStatement,
): PendingQuery<R[]> {
  const { handler, canceller } = findInternals(sql);
  const { Unnamed, Named } = CLASSES!;
  if (statement === undefined) {
    return new Unnamed([text], parameters, handler, canceller, { prepare: false }) as PendingQuery<
      R[]
    >;
  }
  const query = new Named([text], parameters, handler, canceller, {});
  query[STATEMENT] = statement;
  return query as unknown as PendingQuery<R[]>;
}

/** Gives the prepared statement that a query runs; undefined for one that is not prepared. */
export function findStatement(query: object): PreparedStatement | undefined {
  return (query as Partial<NamedQuery>)[STATEMENT];
}

const STATEMENT: unique symbol = Symbol();
const SENDING: unique symbol = Symbol();

interface NamedQuery {
  [STATEMENT]: PreparedStatement;
  [SENDING]: boolean;
}

type QueryClass<Query extends object = object> = new (
  strings: readonly string[],
  parameters: readonly (string | null)[],
  handler: unknown,
  canceller: unknown,
  options: { readonly prepare?: boolean },
) => Query;

/** Made from the class of the first query, which the driver does not export. */
let CLASSES:
  | { readonly Unnamed: QueryClass; readonly Named: QueryClass<NamedQuery> }
  | undefined;

/** The internals that a client gives its queries. */
const INTERNALS = new WeakMap<Sql, Pick<QueryInternals, "handler" | "canceller">>();

function findInternals(sql: Sql) {
  const known = INTERNALS.get(sql);
  if (known !== undefined) return known;
  const query = sql`` as unknown as QueryInternals;
  CLASSES ??= extendQuery(query.constructor as QueryClass);
  const { handler, canceller } = query;
  const internals = { handler, canceller };
  INTERNALS.set(sql, internals);
  return internals;
}

function extendQuery(Query: QueryClass): NonNullable<typeof CLASSES> {
  class Silent extends Query {
    get origin(): string {
      return "";
    }
  }

  class Unnamed extends Silent {
    get describeFirst(): boolean {
      return false;
    }

    set describeFirst(_asks: boolean) {}
  }

  class Named extends Silent implements NamedQuery {
    // Declared, not initialised as fields, because the driver's constructor runs the setters below
    // first.
    declare [STATEMENT]: PreparedStatement;
    declare [SENDING]: boolean;

    get signature(): string {
      return "";
    }

    set signature(_text: string) {}

    get statement(): PreparedStatement {
      return this[STATEMENT];
    }

    set statement(made: PreparedStatement | null | undefined) {
      const statement = this[STATEMENT];
      if (made == null || statement.columns !== undefined) return;
      statement.string = made.string!;
      statement.types = made.types!;
    }

    get prepared(): boolean {
      return this[SENDING] && this[STATEMENT].columns !== undefined;
    }

    /**
     * The driver sends the query within this call. Sessions do not keep the texts that they have
     * sent.
     */
    set prepared(_isKnown: boolean) {
      this[SENDING] = true;
      queueMicrotask(() => {
        this[SENDING] = false;
        this[STATEMENT].string = "";
      });
    }
  }

  return { Unnamed, Named };
}

/** Rows of a statement, and how many it read or wrote. */
export type Rows<R extends Row = Row> = R[] & { readonly count: number };

/**
 * Moves the rows out of an answer, which is left empty.
 *
 * Point 4: after a statement that failed in the middle of its rows, the driver does not reset its
 * counter (3.4.9). The rows of the session's next statement then begin with holes, which are skipped
 * here.
 *
 * V8 keeps an answer for long after its request. Emptying the list saves memory and walks of the heap.
 * @see docs/decisions/0035-runtimes.md
 */
export function takeRows<R extends Row>(answer: RowList<R[]>): Rows<R> {
  // A loop, because `filter` on a subclass of Array is slow on V8.
  const rows: R[] = [];
  for (let place = 0; place < answer.length; place++) {
    if (place in answer) rows.push(answer[place]!);
  }
  answer.length = 0;
  return Object.assign(rows, { count: answer.count });
}

/**
 * Lets V8 optimise the code that makes queries and answers.
 *
 * Point 5: both are classes with a static member of a computed name (`static get [Symbol.species]`),
 * which makes the class a dictionary to V8 (11 to 15). Code that makes an object of such a class is
 * compiled, thrown away and compiled again, for ever. One look-up through a subclass, of a member that
 * does not exist, makes it an ordinary class; on Bun it does nothing. Without it, single updates under
 * load have less throughput on Deno and on Node.
 * @see docs/decisions/0032-driver.md
 */
export function optimiseClasses(query: object, answer: object): void {
  for (const { constructor } of [query, answer]) {
    const Subclass: AnyClass = class extends (constructor as AnyClass) {};
    void Subclass.missing;
  }
}

type AnyClass = { readonly missing?: unknown } & (new () => object);
