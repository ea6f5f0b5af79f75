import type { PendingQuery, Row, RowList, Sql } from "postgres";
import type { Observe } from "../observe.ts";
import type { Compile } from "./database.ts";
import type { Failure } from "./failure.ts";
import { classify, DEADLINE, fail, nameFault } from "./failure.ts";
import type { DriverQuery, Shapes } from "./shapes.ts";

/** Rows, or what happened instead. */
export type Outcome<T> =
  | { readonly rows: T; readonly failure?: undefined }
  | { readonly failure: Failure };

/** What a statement is given besides its text. */
export interface StatementOptions {
  readonly shapes: Shapes;
  /** Milliseconds until a connection must stand. */
  readonly connectMs: number;
  /** Milliseconds until the answer must be there. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
}

/** Nobody waits for the answer any more; nothing was changed. */
export const ABORTED: Failure = fail("timeout", "ABORTED");
/** SQLSTATE of a statement that was cancelled or over its time. */
const CANCELLED = "57014";
/** A statement that began just now was ended by what was meant for the one before it. */
export const CANCELLED_ASTRAY: Failure = fail("timeout", "CANCELLED_ASTRAY");
/** A request to cancel is on its way for so long at most. */
const STRAY_MS = 500;
const CANCEL_LATER_MS = 50;

/** Compiles one statement and runs it, once, within the deadline. */
export function runStatement<R extends Row>(
  sql: Sql,
  compile: Compile<R>,
  options: StatementOptions,
): Promise<Outcome<RowList<R[]>>> {
  return settle(options.shapes.compile(sql, compile), options);
}

/**
 * Waits for a query, within limits that the driver does not have: a frozen backend never answers,
 * and a server that accepts and closes is tried for ever. A query left behind may still settle later;
 * its rejection is taken here.
 * @see RELIABILITY 0.5
 */
export function settle<R extends Row>(
  query: PendingQuery<R[]>,
  { connectMs, deadlineMs, signal }: Omit<StatementOptions, "shapes">,
): Promise<Outcome<RowList<R[]>>> {
  const inside = query as unknown as DriverQuery;
  if (signal?.aborted) return Promise.resolve({ failure: ABORTED });
  const started = performance.now();
  return new Promise((resolve) => {
    let cancelled: Promise<void> | undefined;
    let later: ReturnType<typeof setTimeout> | undefined;
    const end = (outcome: Outcome<RowList<R[]>>) => {
      clearTimeout(timer);
      clearTimeout(later);
      signal?.removeEventListener("abort", cancel);
      resolve(outcome);
    };
    // Before it was sent a query can not be cancelled: the driver would lose the connection with it.
    const cancel = () => {
      if (inside.state === null) later = setTimeout(cancel, CANCEL_LATER_MS);
      else cancelled = inside.canceller?.(query).catch(() => {});
    };
    const refuse = (failure: Failure): Failure => {
      if (failure.code !== CANCELLED) return failure;
      if (signal?.aborted) return ABORTED;
      return performance.now() - started < STRAY_MS ? CANCELLED_ASTRAY : failure;
    };
    const strike = () => end({ failure: fail("timeout", DEADLINE) });
    let timer = setTimeout(() => {
      if (inside.state === null) end({ failure: fail("unavailable", DEADLINE) });
      else timer = setTimeout(strike, Math.max(0, deadlineMs - connectMs));
    }, Math.min(connectMs, deadlineMs));
    signal?.addEventListener("abort", cancel);
    query.then(
      (rows) =>
        isAnswered(rows) ? { rows: closeUp(rows) } : { failure: fail("lost", "NOT_ANSWERED") },
      (error) => ({ failure: refuse(classify(error, inside.state !== null)) }),
    ).then(async (outcome) => {
      // On its way still, it would end what another request runs next on the connection.
      await cancelled;
      end(outcome);
    });
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

/**
 * Repeats what was rolled back by a deadlock or a serialization failure, at most three times, and
 * once what `again` says may be repeated. Each failure is observed, and each repetition.
 * @see DECISIONS 4
 */
export async function repeat<T>(
  attempt: () => Promise<Outcome<T>>,
  again: (failure: Failure) => boolean,
  observe?: Observe,
): Promise<Outcome<T>> {
  let collisions = 0;
  let repeated = false;
  while (true) {
    const outcome = await attempt();
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
