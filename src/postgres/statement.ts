import type { Row, RowList, Rows } from "./driver.ts";
import { findStatement, takeRows } from "./driver.ts";
import type { Session } from "./session.ts";
import type { Client, Compile } from "./database.ts";
import { startDeadline } from "../runtime/timers.ts";
import type { Failure } from "./database_error.ts";
import { classify, DEADLINE, isBroken, makeFailure } from "./database_error.ts";
import { keepingOf, noteKeeping } from "./kept_statements.ts";
import type { StatementCache } from "./statement_cache.ts";

/** Rows, or the failure. */
export type Outcome<T> =
  | { readonly rows: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/** The cache that a statement is compiled with, for whom, and what may end it early. */
export interface StatementOptions {
  readonly cache: StatementCache;
  /** The tenant whose share of the cache it takes. */
  readonly tenant?: string | undefined;
  /** Milliseconds until the answer must have arrived. */
  readonly deadlineMs: number;
  readonly client?: Client | undefined;
  /** The same from the moment when the client disconnects, where that is to be sooner. */
  readonly cancelledMs?: number | undefined;
}

/** The client disconnected; nothing was changed. */
export const ABORTED: Failure = makeFailure("timeout", "ABORTED");
/** SQLSTATE of a statement that was cancelled or over its time. */
const CANCELLED = "57014";
/** A cancel request may arrive before its statement, so it is sent again at this interval. */
const CANCEL_AGAIN_MS = 200;

/** A query on its way: the driver's, or one that prepares a statement and gives no rows. */
type Sent<R extends Row> = PromiseLike<RowList<R[]>>;

/**
 * Compiles one statement and runs it within the deadline; once more where the session had prepared it and
 * its plan is out of date.
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
 * Point 7: the driver answers when Postgres is ready for the next statement, behind the commit, and not
 * when the statement is complete. So what an update or a feed is answered with is on the disk.
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

/** Waits for queries that are sent at once, within the deadline; gives their outcomes in order. */
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

/** Asks a session for an answer; false when there is none in time. It may be that it was cancelled. */
export async function checkSession(session: Session, deadlineMs: number): Promise<boolean> {
  const { failure } = await settle(session, session.sql`select 1`.simple(), { deadlineMs });
  return session.isOpen() && (failure === undefined || failure.code === CANCELLED);
}

/** What may end queries that are sent at once, and how their results are reported. */
export interface EachOptions<R extends Row> extends Omit<StatementOptions, "cache"> {
  /** Cancels the query that runs for this many milliseconds, and goes on with the others. */
  readonly stallMs?: number;
  /** Called for each query when it has ended. */
  readonly onOutcome: (place: number, outcome: Outcome<Rows<R>>) => void;
  /** Called when all have, with what broke the session, if anything did. */
  readonly onEnd?: (broken: Failure | undefined) => void;
}

/**
 * Runs queries that are sent at once, within a deadline, which the driver does not have: a frozen session
 * never answers. Each is open until its answer, the deadline, or the end of the session. When all have
 * ended, the session is
 *
 * - ready for another statement, as a rule; after a cancellation, once it is certain that none is still
 *   on its way ({@link Session.isCertain});
 * - closed, if it broke;
 * - abandoned, at the deadline, since Postgres may work on.
 *
 * A query that has ended here may settle later; its rejection is handled all the same.
 * @see D7
 */
export function settleEach<R extends Row>(
  session: Session,
  queries: readonly Sent<R>[],
  { deadlineMs, cancelledMs, stallMs, client, onOutcome, onEnd }: EachOptions<R>,
): void {
  const open = new Set(queries.keys());
  let cancelling: ReturnType<typeof setInterval> | undefined;
  let stalling: ReturnType<typeof setInterval> | undefined;
  let givingUp: ReturnType<typeof setTimeout> | undefined;
  let broken: Failure | undefined;
  let isLate = false;
  let isCancelled = false;
  const cancel = () => {
    isCancelled = true;
    session.cancel();
  };
  const take = (place: number, outcome: Outcome<Rows<R>>) => {
    if (!open.delete(place)) return;
    const { failure } = outcome;
    if (failure !== undefined && failure !== ABORTED && isBroken(failure)) broken ??= failure;
    if (open.size === 0) end();
    else if (broken !== undefined && !isLate) session.destroy();
    else if (cancelling !== undefined) cancel();
    onOutcome(place, outcome);
    if (open.size === 0) onEnd?.(broken);
  };
  const takeAll = (failure: Failure) => {
    for (const place of [...open]) take(place, { failure });
  };
  const end = () => {
    endDeadline();
    session.watch(undefined);
    clearInterval(cancelling);
    clearInterval(stalling);
    clearTimeout(givingUp);
    if (isLate) session.abandon(Promise.allSettled(queries));
    else if (broken !== undefined) session.destroy();
  };
  const fail = (place: number, error: unknown) => {
    const failure = classify(error);
    noteFault(queries[place]!, failure, session);
    // The cancellation of one statement may have hit another one, which then was undone as well.
    take(place, { failure: failure.code === CANCELLED && isCancelled ? ABORTED : failure });
  };
  const late = () => {
    isLate = true;
    session.cancel();
    takeAll(makeFailure("timeout", DEADLINE));
  };
  const endDeadline = startDeadline({
    ms: deadlineMs,
    late,
    client,
    gone() {
      cancel();
      cancelling ??= setInterval(cancel, CANCEL_AGAIN_MS);
      if (cancelledMs !== undefined) givingUp ??= setTimeout(late, cancelledMs);
    },
  });
  if (stallMs !== undefined) {
    let [running] = open;
    stalling = setInterval(() => {
      const [first] = open;
      if (first === running) cancel();
      running = first;
    }, stallMs);
  }
  // The driver does not settle every query that it had when the connection broke.
  session.watch(() => takeAll(makeFailure("lost", "CONNECTION_CLOSED")));
  for (const [place, query] of queries.entries()) {
    query.then(
      (answer) => take(place, { rows: takeRows(answer) }),
      (error) => fail(place, error),
    );
  }
}

/** Codes of a prepared statement whose plan is out of date, or that the session does not have any more. */
const OUTDATED: ReadonlySet<string> = new Set(["0A000", "26000"]);

/**
 * Codes of a pooler that no longer keeps statements: what the session has prepared is not there, or what
 * it prepares is there already.
 */
const NOT_KEPT: ReadonlySet<string> = new Set(["26000", "42P05"]);

/** Notes on a prepared statement whether it can be used again. */
function noteFault(query: object, { code }: Failure, { sql }: Session): void {
  const statement = findStatement(query);
  if (statement === undefined) return;
  if (keepingOf(sql) !== "own" && NOT_KEPT.has(code)) {
    noteKeeping(sql, "none");
    statement.fault = "outdated";
    return;
  }
  if (statement.columns !== undefined) {
    if (OUTDATED.has(code)) statement.fault = "outdated";
  } else if (code === CANCELLED) statement.fault = "unknown";
}
