import type { Observe } from "../../server/telemetry/observe.ts";
import type { Gate } from "./gate.ts";
import type { RunOptions } from "./database.ts";
import type { Failure } from "./database_error.ts";
import { DatabaseError, nameFault } from "./database_error.ts";
import { findRule } from "./failure_kind.ts";
import { CONNECT_MS, SLOW_MS } from "./session_opener.ts";
import type { Pool } from "./pool.ts";
import type { Session } from "./session.ts";
import type { Outcome } from "./statement.ts";

/** The source of sessions, and the callbacks about their use. */
export interface SessionSource {
  readonly gate: Gate;
  readonly pool: Pick<Pool, "acquire" | "release">;
  readonly observe: Observe;
  /** Called when a use of a session has ended. */
  readonly onUsed: (failure: Failure | undefined, session: Session) => void;
  /** Called with the final result, after all repetitions. */
  readonly onSettled: (failure: Failure | undefined) => void;
}

/** How a session is used. */
export interface UseOptions extends RunOptions {
  /** False: it is never run again as a whole. */
  readonly repeats?: boolean;
}

/**
 * Waits for the gate, takes a session from the pool, uses it and returns it. The time at the gate
 * counts against the time for a session, so that a request never waits for the sum of both if the
 * database does not answer.
 * @throws {DatabaseError}
 */
export async function withSession<T>(
  { gate, pool, observe, onUsed, onSettled }: SessionSource,
  use: (session: Session) => Promise<Outcome<T>>,
  { write, tenant, client, brief, repeats = true }: UseOptions,
): Promise<T> {
  const startedMs = performance.now();
  const leave = await gate.enter({ tenant, client, brief });
  if (typeof leave !== "function") {
    observe({ kind: "fault", fault: nameFault(leave) });
    throw new DatabaseError(leave, { write });
  }
  let released: Promise<void> | undefined;
  const attempt = async (): Promise<Outcome<T>> => {
    const restMs = Math.max(SLOW_MS, startedMs + CONNECT_MS - performance.now());
    const session = await pool.acquire(restMs, client);
    if ("kind" in session) return { failure: session };
    try {
      const outcome = await use(session);
      onUsed(outcome.failure, session);
      return outcome;
    } finally {
      released = pool.release(session);
    }
  };
  try {
    const first = await attempt();
    const failed = first.failure !== undefined;
    const outcome = failed ? await repeat(attempt, { first, write, repeats, observe }) : first;
    onSettled(outcome.failure);
    if (outcome.failure !== undefined) throw new DatabaseError(outcome.failure, { write });
    return outcome.rows;
  } finally {
    // The place stays taken while Postgres works on the statement, or a cancellation is pending.
    if (released === undefined) leave();
    else released.then(leave);
  }
}

const MAX_COLLISIONS = 3;

/** Options of {@link repeat}. */
export interface RepeatOptions<T> extends Pick<UseOptions, "write" | "repeats"> {
  /** The result of the first attempt. */
  readonly first: Outcome<T>;
  readonly observe?: Observe;
}

/**
 * Repeats a statement as the rule of its failure says. Each failure and each repetition is observed.
 * @see E38
 */
export async function repeat<T>(
  attempt: () => Promise<Outcome<T>>,
  { first, write, repeats = true, observe }: RepeatOptions<T>,
): Promise<Outcome<T>> {
  let collisions = 0;
  let repeated = false;
  for (let outcome = first;; outcome = await attempt()) {
    if (outcome.failure === undefined) return outcome;
    const fault = nameFault(outcome.failure);
    observe?.({ kind: "fault", fault });
    const rule = repeats ? findRule(outcome.failure).repeats : "never";
    if (rule === "colliding" && collisions < MAX_COLLISIONS) {
      // A random pause, so that two statements that collided do not start again at the same moment.
      const ms = Math.random() * 20 * 2 ** collisions++;
      await new Promise((resolve) => setTimeout(resolve, ms));
    } else if (!repeated && (rule === "once" || rule === "read" && !write)) repeated = true;
    else return outcome;
    observe?.({ kind: "retry", fault });
  }
}

/** Least time between two warnings that a resource of the database is used up. */
const EXHAUSTED_MS = 60_000;

/**
 * Makes a function that takes each final result. It warns once when the database becomes unavailable,
 * and once when it is available again; from time to time while it is there and has run out of disk or
 * memory.
 */
export function observeAvailability(observe: Observe): SessionSource["onSettled"] {
  let unavailable: boolean | undefined;
  let warnedMs = -Infinity;
  return (failure) => {
    if (failure?.kind === "exhausted" && performance.now() - warnedMs > EXHAUSTED_MS) {
      warnedMs = performance.now();
      const message = `the database has run out of disk, memory or connections (${failure.code})`;
      observe({ kind: "warning", message });
    }
    const failed = failure?.kind === "unavailable" || failure?.kind === "lost";
    if (failed === unavailable) return;
    const isFirst = unavailable === undefined;
    unavailable = failed;
    // If the database is unavailable from the start, the start reports it.
    if (isFirst) return;
    const message = failed
      ? `the database is not available (${failure?.code})`
      : "the database is available again";
    observe({ kind: "warning", message });
  };
}
