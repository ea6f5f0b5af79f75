import type { PendingQuery, Row, Rows } from "./driver.ts";
import { takeRows } from "./driver.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Backend } from "./session.ts";
import type { Client, Compile } from "./database.ts";
import { startDeadline } from "../runtime/timers.ts";
import type { Failure } from "./database_error.ts";
import { classify, DEADLINE, fail, isBroken, nameFault } from "./database_error.ts";
import type { StatementCache } from "./statement_cache.ts";

/** Rows, or what happened instead. */
export type Outcome<T> =
  | { readonly rows: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/** What a statement is given besides its text. */
export interface StatementOptions {
  readonly cache: StatementCache;
  /** Milliseconds until the answer must be there. */
  readonly deadlineMs: number;
  readonly client?: Client | undefined;
}

/** Nobody waits for the answer any more; nothing was changed. */
export const ABORTED: Failure = fail("timeout", "ABORTED");
/** SQLSTATE of a statement that was cancelled or over its time. */
const CANCELLED = "57014";
/** A request to cancel may overtake the statement that it is meant for. */
const CANCEL_AGAIN_MS = 200;

/** Compiles one statement and runs it, once, within the deadline. */
export function runStatement<R extends Row>(
  backend: Backend,
  compile: Compile<R>,
  options: StatementOptions,
): Promise<Outcome<Rows<R>>> {
  return settle(backend, options.cache.compile(backend.sql, compile), options);
}

/** Waits for a query, within the deadline. */
export function settle<R extends Row>(
  backend: Backend,
  query: PendingQuery<R[]>,
  options: Omit<StatementOptions, "cache">,
): Promise<Outcome<Rows<R>>> {
  return new Promise((resolve) => {
    settleEach(backend, [query], { ...options, tell: (_place, outcome) => resolve(outcome) });
  });
}

/** Who hears what becomes of queries that leave together. */
export interface EachOptions<R extends Row> extends Omit<StatementOptions, "cache"> {
  /** Told of each when it has ended. */
  readonly tell: (place: number, outcome: Outcome<Rows<R>>) => void;
  /** Told when all have, and of what broke the session, if anything did. */
  readonly ended?: (broken: Failure | undefined) => void;
}

/**
 * Waits for queries that leave together, within a limit that the driver does not have: a frozen
 * backend never answers. A session that is not known to be ready for another statement is ended: after
 * a break, and when a cancellation may still be on its way; at our deadline it is abandoned, since
 * Postgres may work on. A query left behind may still settle later; its rejection is taken here.
 * @see D7
 */
export function settleEach<R extends Row>(
  backend: Backend,
  queries: readonly PendingQuery<R[]>[],
  { deadlineMs, client, tell, ended }: EachOptions<R>,
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
    else if (broken !== undefined && !isLate) backend.destroy();
    else if (cancelling !== undefined) backend.cancel();
    tell(place, outcome);
    if (open.size === 0) ended?.(broken);
  };
  const takeAll = (failure: Failure) => {
    for (const place of [...open]) take(place, { failure });
  };
  const end = () => {
    endDeadline();
    backend.watch(undefined);
    clearInterval(cancelling);
    if (isLate) backend.abandon(Promise.allSettled(queries));
    else if (cancelling !== undefined || broken !== undefined) backend.destroy();
  };
  const name = (failure: Failure) =>
    failure.code === CANCELLED && cancelling !== undefined ? ABORTED : failure;
  const endDeadline = startDeadline({
    ms: deadlineMs,
    late() {
      isLate = true;
      backend.cancel();
      takeAll(fail("timeout", DEADLINE));
    },
    client,
    gone() {
      backend.cancel();
      cancelling ??= setInterval(backend.cancel, CANCEL_AGAIN_MS);
    },
  });
  // The driver does not settle all that it was given before a break.
  backend.watch(() => takeAll(fail("lost", "CONNECTION_CLOSED")));
  for (const [place, query] of queries.entries()) {
    query.then(
      (answer) => take(place, { rows: takeRows(answer) }),
      (error) => take(place, { failure: name(classify(error)) }),
    );
  }
}

const MAX_SERIALIZATION_RETRIES = 3;

/** How an attempt went, and what may be tried after it. */
export interface RepeatOptions<T> {
  readonly first: Outcome<T>;
  readonly again: (failure: Failure) => boolean;
  readonly observe?: Observe;
}

/**
 * Repeats what was rolled back by a deadlock or a serialization failure, at most three times, and
 * once what `again` says may be repeated. Each failure is observed, and each repetition.
 * @see E38
 */
export async function repeat<T>(
  attempt: () => Promise<Outcome<T>>,
  { first, again, observe }: RepeatOptions<T>,
): Promise<Outcome<T>> {
  let collisions = 0;
  let repeated = false;
  for (let outcome = first;; outcome = await attempt()) {
    if (outcome.failure === undefined) return outcome;
    const fault = nameFault(outcome.failure);
    observe?.({ kind: "fault", fault });
    if (outcome.failure.kind === "serialization" && collisions < MAX_SERIALIZATION_RETRIES) {
      // Two that collided must not start again in step.
      const ms = Math.random() * 20 * 2 ** collisions++;
      await new Promise((resolve) => setTimeout(resolve, ms));
    } else if (!repeated && again(outcome.failure)) repeated = true;
    else return outcome;
    observe?.({ kind: "retry", fault });
  }
}
