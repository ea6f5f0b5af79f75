import type { Row, RowList, Rows } from "./driver.ts";
import { findStatement, takeRows } from "./driver.ts";
import type { Session } from "./session.ts";
import type { Client, Compile } from "./database.ts";
import { startDeadline } from "../../server/runtime/timers.ts";
import type { Failure } from "./database_error.ts";
import { classify, makeFailure } from "./database_error.ts";
import { ABORTED_CODE, DEADLINE } from "./failure_kind.ts";
import { keepingOf, noteKeeping } from "./pooler.ts";
import type { Statements } from "./statements.ts";

/** Rows, or the failure. */
export type Outcome<T> =
  | { readonly rows: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/** The cache that a statement is compiled with, its tenant, and what may end it early. */
export interface StatementOptions {
  readonly cache: Pick<Statements, "compile">;
  /** The tenant whose share of the cache it takes. */
  readonly tenant?: string | undefined;
  /** Milliseconds until the answer must have arrived. */
  readonly deadlineMs: number;
  readonly client?: Client | undefined;
  /** The same after the client has disconnected, if that should be sooner. */
  readonly cancelledMs?: number | undefined;
}

/** The client disconnected; nothing was changed. */
export const ABORTED: Failure = makeFailure("timeout", ABORTED_CODE);
/** SQLSTATE of a statement that was cancelled or timed out. */
const CANCELLED = "57014";
/** A cancel request may arrive before its statement, so it is sent again at this interval. */
const CANCEL_AGAIN_MS = 200;

/** A query that was sent: one of the driver, or one that prepares a statement and gives no rows. */
type Sent<R extends Row> = PromiseLike<RowList<R[]>>;

/**
 * Compiles a statement and runs it within the deadline. Runs it once more if the session had prepared
 * it and its plan is outdated.
 */
export async function runStatement<R extends Row>(
  session: Session,
  compile: Compile<R>,
  options: StatementOptions,
): Promise<Outcome<Rows<R>>> {
  const query = options.cache.compile(session.sql, compile, options.tenant);
  const outcome = await settle(session, query, options);
  if (outcome.failure === undefined || findStatement(query)?.fault !== "outdated") return outcome;
  const again = options.cache.compile(session.sql, compile, options.tenant);
  return await settle(session, again, options);
}

/**
 * Waits for a query, within the deadline.
 *
 * Point 7: the driver resolves a query when Postgres is ready for the next statement, which is after
 * the commit. So the result of an update or a feed is on disk before it is reported.
 */
export function settle<R extends Row>(
  session: Session,
  query: Sent<R>,
  options: Omit<StatementOptions, "cache">,
): Promise<Outcome<Rows<R>>> {
  return new Promise((resolve) => {
    settleEach(session, [query], { onOutcome: (_place, outcome) => resolve(outcome), ...options });
  });
}

/** Waits for queries that are sent together, within the deadline; gives their outcomes in order. */
export function settleAll<R extends Row>(
  session: Session,
  queries: readonly Sent<R>[],
  options: Omit<StatementOptions, "cache">,
): Promise<readonly Outcome<Rows<R>>[]> {
  return new Promise((resolve) => {
    const outcomes: Outcome<Rows<R>>[] = [];
    settleEach(session, queries, {
      ...options,
      onOutcome: (place, outcome) => outcomes[place] = outcome,
      onEnd: () => resolve(outcomes),
    });
  });
}

/** Checks that a session answers in time. The answer may be that the check was cancelled. */
export async function checkSession(session: Session, deadlineMs: number): Promise<boolean> {
  const { failure } = await settle(session, session.sql`select 1`.simple(), { deadlineMs });
  return session.isOpen() && (failure === undefined || failure.code === CANCELLED);
}

/** What may end queries that are sent together, and how their results are reported. */
export interface EachOptions<R extends Row> extends Omit<StatementOptions, "cache"> {
  /** Cancels a query that runs for this many milliseconds, and continues with the others. */
  readonly stallMs?: number;
  /** Called for each query when it has ended. */
  readonly onOutcome: (place: number, outcome: Outcome<Rows<R>>) => void;
  /** Called when all queries have ended, with the failure that broke the session, if any. */
  readonly onEnd?: (broken: Failure | undefined) => void;
}

/** Runs queries that are sent together, within a deadline ({@link SentQueries}). @see D7 */
export function settleEach<R extends Row>(
  session: Session,
  queries: readonly Sent<R>[],
  options: EachOptions<R>,
): void {
  new SentQueries(session, queries, options).start();
}

/**
 * Queries that were sent together. The driver has no deadline, and a frozen session never answers. So
 * each query is **open** until its answer, the deadline, or the end of the session. All together are
 *
 * - **running**, as a rule;
 * - **cancelling**, after the client has disconnected: a request is sent again and again;
 * - **broken**, after a failure that ends the session: it is closed;
 * - **late**, at the deadline: the session is abandoned, since Postgres may work on.
 *
 * When none is open any more, a session that is neither broken nor late is ready for another
 * statement; after a cancellation, once it is certain that no request is still on its way
 * ({@link Session.isCertain}). A query that has ended here may settle later; its rejection is handled
 * nevertheless.
 */
class SentQueries<R extends Row> {
  readonly #session: Session;
  readonly #queries: readonly Sent<R>[];
  readonly #options: EachOptions<R>;
  readonly #open: Set<number>;
  #broken: Failure | undefined;
  #isLate = false;
  #isCancelled = false;
  #cancelling: ReturnType<typeof setInterval> | undefined;
  #stalling: ReturnType<typeof setInterval> | undefined;
  #givingUp: ReturnType<typeof setTimeout> | undefined;
  #endDeadline = () => {};

  constructor(session: Session, queries: readonly Sent<R>[], options: EachOptions<R>) {
    this.#session = session;
    this.#queries = queries;
    this.#options = options;
    this.#open = new Set(queries.keys());
  }

  start(): void {
    const { deadlineMs, stallMs, client } = this.#options;
    this.#endDeadline = startDeadline({
      ms: deadlineMs,
      late: () => this.#giveUp(),
      client,
      gone: () => this.#beginToCancel(),
    });
    if (stallMs !== undefined) this.#cancelStalled(stallMs);
    // The driver does not settle every query that it had when the connection broke.
    this.#session.watch(() => this.#takeAll(makeFailure("lost", "CONNECTION_CLOSED")));
    for (const [place, query] of this.#queries.entries()) {
      query.then(
        (answer) => this.#take(place, { rows: takeRows(answer) }),
        (error) => this.#fail(place, error),
      );
    }
  }

  #take(place: number, outcome: Outcome<Rows<R>>): void {
    if (!this.#open.delete(place)) return;
    const { onEnd, onOutcome } = this.#options;
    const { failure } = outcome;
    if (failure?.endsSession) this.#broken ??= failure;
    if (this.#open.size === 0) this.#end();
    else if (this.#broken !== undefined && !this.#isLate) this.#session.destroy();
    else if (this.#cancelling !== undefined) this.#cancel();
    onOutcome(place, outcome);
    if (this.#open.size === 0) onEnd?.(this.#broken);
  }

  #takeAll(failure: Failure): void {
    for (const place of [...this.#open]) this.#take(place, { failure });
  }

  #fail(place: number, error: unknown): void {
    const failure = classify(error);
    noteFault(this.#queries[place]!, failure, this.#session);
    // The cancellation may have hit another statement of the group, which was rolled back as well.
    const isAborted = failure.code === CANCELLED && this.#isCancelled;
    this.#take(place, { failure: isAborted ? ABORTED : failure });
  }

  #cancel(): void {
    this.#isCancelled = true;
    this.#session.cancel();
  }

  #beginToCancel(): void {
    const { cancelledMs } = this.#options;
    this.#cancel();
    this.#cancelling ??= setInterval(() => this.#cancel(), CANCEL_AGAIN_MS);
    if (cancelledMs !== undefined) {
      this.#givingUp ??= setTimeout(() => this.#giveUp(), cancelledMs);
    }
  }

  /** Cancels a query that is the first of the open ones for so long. */
  #cancelStalled(stallMs: number): void {
    let [running] = this.#open;
    this.#stalling = setInterval(() => {
      const [first] = this.#open;
      if (first === running) this.#cancel();
      running = first;
    }, stallMs);
  }

  #giveUp(): void {
    this.#isLate = true;
    this.#session.cancel();
    this.#takeAll(makeFailure("timeout", DEADLINE));
  }

  #end(): void {
    this.#endDeadline();
    this.#session.watch(undefined);
    clearInterval(this.#cancelling);
    clearInterval(this.#stalling);
    clearTimeout(this.#givingUp);
    if (this.#isLate) this.#session.abandon(Promise.allSettled(this.#queries));
    else if (this.#broken !== undefined) this.#session.destroy();
  }
}

/** Codes of a prepared statement whose plan is outdated, or that the session no longer has. */
const OUTDATED: ReadonlySet<string> = new Set(["0A000", "26000"]);

/**
 * Codes of a pooler that no longer keeps statements: one that the session has prepared is missing, or
 * one that it prepares exists already.
 */
const NOT_KEPT: ReadonlySet<string> = new Set(["26000", "42P05"]);

/** Records on a prepared statement whether it can be used again. */
function noteFault(query: object, { code, kind }: Failure, { sql }: Session): void {
  const statement = findStatement(query);
  // A function may raise any code.
  if (statement === undefined || kind === "raised") return;
  if (keepingOf(sql) !== "own" && NOT_KEPT.has(code)) {
    noteKeeping(sql, "none");
    statement.fault = "outdated";
    return;
  }
  if (statement.columns !== undefined) {
    if (OUTDATED.has(code)) statement.fault = "outdated";
  } else if (code === CANCELLED) statement.fault = "unknown";
}
