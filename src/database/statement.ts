import type { PendingQuery, Row, RowList } from "postgres";
import type { Observe } from "../observe.ts";
import type { Backend } from "./backend.ts";
import type { Client, Compile } from "./database.ts";
import { startDeadline } from "../deadline.ts";
import type { Failure } from "./failure.ts";
import { classify, DEADLINE, fail, isBroken, nameFault } from "./failure.ts";
import type { Shapes } from "./shapes.ts";

/** Rows, or what happened instead. */
export type Outcome<T> =
  | { readonly rows: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/** What a statement is given besides its text. */
export interface StatementOptions {
  readonly shapes: Shapes;
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
): Promise<Outcome<RowList<R[]>>> {
  return settle(backend, options.shapes.compile(backend.sql, compile), options);
}

/**
 * Waits for a query, within a limit that the driver does not have: a frozen backend never answers.
 * A session that is not known to be ready for another statement is ended: after a break, at our
 * deadline, and when a cancellation may still be on its way. A query left behind may still settle
 * later; its rejection is taken here.
 * @see RELIABILITY 0.5
 */
export function settle<R extends Row>(
  backend: Backend,
  query: PendingQuery<R[]>,
  { deadlineMs, client }: Omit<StatementOptions, "shapes">,
): Promise<Outcome<RowList<R[]>>> {
  return new Promise((resolve) => {
    let cancelling: ReturnType<typeof setInterval> | undefined;
    const end = (outcome: Outcome<RowList<R[]>>) => {
      endDeadline();
      backend.watch(undefined);
      clearInterval(cancelling);
      if (cancelling !== undefined || outcome.failure !== undefined && isBroken(outcome.failure)) {
        backend.destroy();
      }
      resolve(outcome);
    };
    const cancel = () => {
      backend.cancel();
      cancelling ??= setInterval(backend.cancel, CANCEL_AGAIN_MS);
    };
    const name = (failure: Failure) =>
      failure.code === CANCELLED && cancelling !== undefined ? ABORTED : failure;
    const endDeadline = startDeadline({
      ms: deadlineMs,
      late() {
        backend.cancel();
        end({ failure: fail("timeout", DEADLINE) });
      },
      client,
      gone: cancel,
    });
    // The driver does not settle all that it was given before a break.
    backend.watch(() => end({ failure: fail("lost", "CONNECTION_CLOSED") }));
    query.then(
      (rows) =>
        end(isAnswered(rows) ? { rows: closeUp(rows) } : { failure: fail("lost", "NOT_ANSWERED") }),
      (error) => end({ failure: name(classify(error)) }),
    );
  });
}

/**
 * A statement given to a connection between its RST and its end is resolved by the driver when the
 * next session begins (3.4.9): without rows, and without the command that Postgres completed.
 */
function isAnswered(rows: RowList<Row[]>): boolean {
  return typeof rows.command === "string";
}

/**
 * After a statement that failed in the middle of its rows the driver goes on counting where it was
 * (3.4.9): the first row of the connection's next statement would be the second of its list.
 */
function closeUp<T extends Row[]>(rows: T): T {
  while (rows.length > 0 && !(0 in rows)) rows.shift();
  return rows;
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
 * @see DECISIONS 4
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
