import type { Row } from "./driver.ts";
import { neverRepeat } from "./driver.ts";
import type { Backend } from "./session.ts";
import { borrow, type Lender } from "./borrow.ts";
import type { Compile, Database, TogetherOptions } from "./database.ts";
import { DatabaseError, isBroken, nameFault } from "./database_error.ts";
import type { FailureKind } from "./failure_kind.ts";
import { ABORTED, type Outcome, settleEach, type StatementOptions } from "./statement.ts";

/** Of what Postgres refused, and so undid: what may go otherwise the next time. */
const AGAIN: ReadonlySet<FailureKind> = new Set(["serialization", "stale", "unknown"]);

/** Somebody's answer, to be given from elsewhere. */
interface Answer<R> {
  readonly promise: Promise<R[] | undefined>;
  readonly resolve: (rows: R[] | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Makes what runs statements that leave together: one write, one session, and a transaction for each.
 * Most of what a short statement costs is the way there and back.
 * @see docs/decisions/0024-pipelined-updates.md
 */
export function openTogether(
  lender: Lender,
  { cache, deadlineMs }: StatementOptions,
): Database["runTogether"] {
  const { observe } = lender;

  function give<R extends Row>(
    { resolve, reject }: Answer<R>,
    outcome: Outcome<R[]>,
    write: boolean,
  ): void {
    const { failure } = outcome;
    if (failure === undefined) return resolve(outcome.rows);
    const fault = nameFault(failure);
    const breaks = failure !== ABORTED && isBroken(failure);
    const isUndone = failure === ABORTED || !breaks && AGAIN.has(failure.kind);
    // What broke the session is told once, by who lent it.
    if (!breaks) observe({ kind: "fault", fault });
    if (!isUndone) return reject(new DatabaseError(failure, { write }));
    observe({ kind: "retry", fault });
    resolve(undefined);
  }

  return function runTogether<R extends Row>(
    compiles: readonly Compile<R>[],
    { write, share, client, sent }: TogetherOptions,
  ) {
    const answers = compiles.map(() => openAnswer<R>());
    const use = (backend: Backend): Promise<Outcome<void>> => {
      const queries = compiles.map((compile) => neverRepeat(cache.compile(backend.sql, compile)));
      sent();
      return new Promise((resolve) => {
        settleEach(backend, queries, {
          deadlineMs,
          client,
          tell: (place, outcome) => give(answers[place]!, outcome, write),
          ended: (failure) => resolve(failure === undefined ? { rows: undefined } : { failure }),
        });
      });
    };
    borrow(lender, use, { write, share, client, again: () => false }).catch((error) => {
      for (const { reject } of answers) reject(error);
    });
    return answers.map(({ promise }) => promise);
  };
}

function openAnswer<R>(): Answer<R> {
  let answer: Omit<Answer<R>, "promise">;
  const promise = new Promise<R[] | undefined>((resolve, reject) => answer = { resolve, reject });
  return { promise, ...answer! };
}
