import type { PendingQuery, Row, Rows } from "./driver.ts";
import { takeRows } from "./driver.ts";
import type { Session } from "./session.ts";
import type { Client, Compile } from "./database.ts";
import { startDeadline } from "../runtime/timers.ts";
import type { Failure } from "./database_error.ts";
import { classify, DEADLINE, isBroken, makeFailure } from "./database_error.ts";
import type { StatementCache } from "./statement_cache.ts";

/** Rows, or the failure. */
export type Outcome<T> =
  | { readonly rows: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/** The cache that a statement is compiled with, and what may end it early. */
export interface StatementOptions {
  readonly cache: StatementCache;
  /** Milliseconds until the answer must have arrived. */
  readonly deadlineMs: number;
  readonly client?: Client | undefined;
}

/** The client disconnected; nothing was changed. */
export const ABORTED: Failure = makeFailure("timeout", "ABORTED");
/** SQLSTATE of a statement that was cancelled or over its time. */
const CANCELLED = "57014";
/** A cancel request may arrive before its statement, so it is sent again at this interval. */
const CANCEL_AGAIN_MS = 200;

/** Compiles one statement and runs it, once, within the deadline. */
export function runStatement<R extends Row>(
  session: Session,
  compile: Compile<R>,
  options: StatementOptions,
): Promise<Outcome<Rows<R>>> {
  return settle(session, options.cache.compile(session.sql, compile), options);
}

/** Waits for a query, within the deadline. */
export function settle<R extends Row>(
  session: Session,
  query: PendingQuery<R[]>,
  options: Omit<StatementOptions, "cache">,
): Promise<Outcome<Rows<R>>> {
  return new Promise((resolve) => {
    settleEach(session, [query], { onOutcome: (_place, outcome) => resolve(outcome), ...options });
  });
}

/** Waits for queries that are sent at once, within the deadline; gives their outcomes in order. */
export function settleAll<R extends Row>(
  session: Session,
  queries: readonly PendingQuery<R[]>[],
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

/** What may end queries that are sent at once, and how their results are reported. */
export interface EachOptions<R extends Row> extends Omit<StatementOptions, "cache"> {
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
 * - ready for another statement, as a rule;
 * - closed, if it broke, or if a cancel request may still be on its way;
 * - abandoned, at the deadline, since Postgres may work on.
 *
 * A query that has ended here may settle later; its rejection is handled all the same.
 * @see D7
 */
export function settleEach<R extends Row>(
  session: Session,
  queries: readonly PendingQuery<R[]>[],
  { deadlineMs, client, onOutcome, onEnd }: EachOptions<R>,
): void {
  const open = new Set(queries.keys());
  let cancelling: ReturnType<typeof setInterval> | undefined;
  let broken: Failure | undefined;
  let isLate = false;
  const take = (place: number, outcome: Outcome<Rows<R>>) => {
    if (!open.delete(place)) return;
    const { failure } = outcome;
    if (failure !== undefined && failure !== ABORTED && isBroken(failure)) broken ??= failure;
    if (open.size === 0) end();
    else if (broken !== undefined && !isLate) session.destroy();
    else if (cancelling !== undefined) session.cancel();
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
    if (isLate) session.abandon(Promise.allSettled(queries));
    else if (cancelling !== undefined || broken !== undefined) session.destroy();
  };
  const name = (failure: Failure) =>
    failure.code === CANCELLED && cancelling !== undefined ? ABORTED : failure;
  const endDeadline = startDeadline({
    ms: deadlineMs,
    late() {
      isLate = true;
      session.cancel();
      takeAll(makeFailure("timeout", DEADLINE));
    },
    client,
    gone() {
      session.cancel();
      cancelling ??= setInterval(session.cancel, CANCEL_AGAIN_MS);
    },
  });
  // The driver does not settle every query that it had when the connection broke.
  session.watch(() => takeAll(makeFailure("lost", "CONNECTION_CLOSED")));
  for (const [place, query] of queries.entries()) {
    query.then(
      (answer) => take(place, { rows: takeRows(answer) }),
      (error) => take(place, { failure: name(classify(error)) }),
    );
  }
}
