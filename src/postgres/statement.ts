import type { Row, RowList, Rows } from "./driver.ts";
import { findStatement, takeRows } from "./driver.ts";
import type { Session } from "./session.ts";
import type { Client, Compile } from "./database.ts";
import { startDeadline } from "../runtime/timers.ts";
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

/**
 * Runs queries that are sent together, within a deadline. The driver has none, and a frozen session
 * never answers. Each query is open until its answer, the deadline, or the end of the session. When
 * all have ended, the session is
 *
 * - ready for another statement, as a rule; after a cancellation, once it is certain that none is
 *   still on its way ({@link Session.isCertain});
 * - closed, if it broke;
 * - abandoned, at the deadline, since Postgres may work on.
 *
 * A query that has ended here may settle later; its rejection is handled nevertheless.
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
    if (failure?.endsSession) broken ??= failure;
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
    // The cancellation may have hit another statement of the group, which was rolled back as well.
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
