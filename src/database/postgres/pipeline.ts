import type { Row } from "./driver.ts";
import type { Session } from "./session.ts";
import { type SessionSource, withSession } from "./with_session.ts";
import type { Database, PipelinedStatement, PipelineOptions } from "./database.ts";
import { DatabaseError, nameFault } from "./database_error.ts";
import { findRule } from "./failure_kind.ts";
import { type Outcome, settleEach, type StatementOptions } from "./statement.ts";

/** The pending result of one statement. */
interface PendingResult<R> {
  readonly promise: Promise<R[] | undefined>;
  readonly resolve: (rows: R[] | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes the function that runs pipelines: statements that are sent in one write on one session, each
 * in a transaction of its own. Most of the cost of a short statement is its round trip.
 * @see docs/decisions/0022-by-key.md
 */
export function createPipeline(
  source: SessionSource,
  { cache, deadlineMs }: StatementOptions,
): Database["pipeline"] {
  const { observe } = source;

  function settleResult<R extends Row>(
    { resolve, reject }: PendingResult<R>,
    outcome: Outcome<R[]>,
    write: boolean,
  ): void {
    const { failure } = outcome;
    if (failure === undefined) return resolve(outcome.rows);
    const fault = nameFault(failure);
    const breaks = failure.endsSession;
    const isUndone = !breaks && findRule(failure).alone;
    // A failure that breaks the session is observed only once, by withSession.
    if (!breaks) observe({ kind: "fault", fault });
    if (!isUndone) return reject(new DatabaseError(failure, { write }));
    observe({ kind: "retry", fault });
    resolve(undefined);
  }

  return function pipeline<R extends Row>(
    statements: readonly PipelinedStatement<R>[],
    { write, stallMs, sent }: PipelineOptions,
  ) {
    const results = statements.map(() => openPendingResult<R>());
    const use = (session: Session): Promise<Outcome<void>> => {
      const queries = statements.map(({ compile, tenant }) =>
        cache.compile(session.sql, compile, tenant)
      );
      sent();
      return new Promise((resolve) => {
        settleEach<R>(session, queries, {
          deadlineMs,
          stallMs,
          onOutcome: (place, outcome) => settleResult(results[place]!, outcome, write),
          onEnd: (failure) => resolve(failure === undefined ? { rows: undefined } : { failure }),
        });
      });
    };
    const tenant = findOnly(statements.map(({ tenant }) => tenant));
    const options = { write, tenant, brief: true, repeats: false };
    withSession(source, use, options).catch((error) => {
      for (const { reject } of results) reject(error);
    });
    return results.map(({ promise }) => promise);
  };
}

/** Returns the tenant of all statements; undefined if there are several. */
function findOnly(tenants: readonly (string | undefined)[]): string | undefined {
  return tenants.every((tenant) => tenant === tenants[0]) ? tenants[0] : undefined;
}

function openPendingResult<R>(): PendingResult<R> {
  let settlers: Omit<PendingResult<R>, "promise">;
  const promise = new Promise<R[] | undefined>((resolve, reject) => settlers = { resolve, reject });
  return { promise, ...settlers! };
}
