/**
 * The one file that imports postgres.js, and the one that uses members that postgres.js does not
 * document. Each such place is a point with a number: it says what the driver does, why the service
 * needs it, and what that is worth. `test/unit/postgres/driver_contract.test.ts` tests each point
 * against the installed version, and says what to do on the day that one fails. Where another file
 * relies on how the driver behaves, it says so.
 * @see docs/decisions/0032-driver-in-one-file.md
 */
import postgres from "postgres";
import type { Options, PendingQuery, PostgresType, Row, RowList, Sql } from "postgres";
import { MAX_PIPELINED_STATEMENTS } from "../errors/limits.ts";

export type { Fragment, PendingQuery, ReservedSql, Row, RowList, Sql } from "postgres";

/** What the driver and a session need of a socket. */
export interface DriverSocket {
  readonly on: (event: string, listener: (value?: unknown) => void) => unknown;
  readonly write: (data: Uint8Array) => unknown;
  readonly end: (data: Uint8Array) => unknown;
  readonly destroy: () => unknown;
}

/** The session that a client of the driver opens. */
export interface ClientOptions {
  /** Gives the socket of the one session; the driver waits for it where it is a promise. */
  readonly socket: () => DriverSocket;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  /** Settings that the session starts with. */
  readonly connection?: Readonly<Record<string, string>>;
  /** False behind a pooler that cannot keep prepared statements. */
  readonly prepare?: boolean;
  /** Called with the channel of each notification. */
  readonly onnotify?: ((channel: string) => void) | undefined;
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
  // For the driver's messages only: the socket is ours.
  host: "database",
  port: 0,
  max: 1,
  // No statement waits behind a slow one: a session is lent to one statement, batch or transaction.
  max_pipeline: MAX_PIPELINED_STATEMENTS,
  // A failure of that query would be a rejection that nothing handles. @see D10
  fetch_types: false,
  types: {
    // JSON is passed on as Postgres printed it.
    json: { to: 114, from: [114], serialize: String, parse: String },
    // A `Date` has no microseconds. @see D1
    date: { to: 1184, from: [1082, 1114, 1184], serialize: String, parse: String },
  },
  // Limits and encryption are ours.
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
}

/**
 * Keeps one query of a client that prepares from being prepared.
 *
 * Point 2: `prepare` in the options of a tagged query. The driver drops no prepared statement, and 3,000
 * of them cost 85 MB in each session. Its public `unsafe(text, parameters, { prepare })` is no
 * substitute: it keeps the text of every such query that fails, for ever (3.4.9).
 */
export function skipPrepare<R extends Row>(query: PendingQuery<R[]>): PendingQuery<R[]> {
  (query as unknown as QueryInternals).options.prepare = false;
  return query;
}

/** Whether a query was prepared, while it is being sent. */
const SENDING: unique symbol = Symbol();

/**
 * Keeps the driver from repeating a query by itself.
 *
 * Point 3: `prepared` of a query, which the driver reads once to send it and once more when it has
 * failed. One that was prepared and whose plan is out of date is sent again on the same session; two of
 * a batch that do so wait for each other's messages, and neither ends (3.4.9).
 */
export function neverRepeat<R extends Row>(query: PendingQuery<R[]>): PendingQuery<R[]> {
  return Object.defineProperty(query, "prepared", TRUE_WHILE_SENDING);
}

/** One descriptor for all queries: V8 keeps functions that are made for a request for too long. */
const TRUE_WHILE_SENDING: PropertyDescriptor & ThisType<{ [SENDING]: boolean }> = {
  get() {
    return this[SENDING];
  },
  set(prepared: boolean) {
    this[SENDING] = prepared;
    // The driver sends it before it returns.
    queueMicrotask(() => this[SENDING] = false);
  },
};

/** Rows of a statement, and how many it read or wrote. */
export type Rows<R extends Row = Row> = R[] & { readonly count: number };

/**
 * Takes the rows out of an answer, and leaves nothing of them there.
 *
 * Point 4: after a statement that failed in the middle of its rows the driver goes on counting (3.4.9).
 * The list of the session's next statement then begins with holes, which are left out here.
 *
 * Point 5: the answer shares `statement` with the session, which needs the text only to prepare it.
 * Emptying it saves 17 MB on Deno (207 to 190 MB), since ten sessions would keep 256 texts each.
 *
 * V8 keeps an answer for long after its request. Emptying the list of pages of 77 kB saves 40 MB and a
 * fifth of the CPU.
 * @see docs/decisions/0035-responses-are-released.md
 */
export function takeRows<R extends Row>(answer: RowList<R[]>): Rows<R> {
  // A loop, because `filter` on a subclass of Array takes 5 µs more on V8.
  const rows: R[] = [];
  for (let place = 0; place < answer.length; place++) {
    if (place in answer) rows.push(answer[place]!);
  }
  answer.length = 0;
  answer.statement.string = "";
  return Object.assign(rows, { count: answer.count });
}

/**
 * Lets V8 optimise the code that makes queries and answers.
 *
 * Point 6: both are classes with a static member of a computed name (`static get [Symbol.species]`),
 * which makes the class a dictionary to V8 (11 to 15). Code that makes an object of such a class is
 * compiled, thrown away and compiled again, for ever. One look-up through a subclass, of a member that
 * does not exist, makes it an ordinary class; on Bun it does nothing. Without it, single updates at 64
 * clients have 0.78 of the throughput, on Deno and on Node.
 * @see docs/decisions/0034-driver-classes.md
 */
export function optimiseClasses(query: object, answer: object): void {
  for (const { constructor } of [query, answer]) {
    const Subclass: AnyClass = class extends (constructor as AnyClass) {};
    void Subclass.missing;
  }
}

type AnyClass = { readonly missing?: unknown } & (new () => object);
