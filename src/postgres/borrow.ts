import type { Observe } from "../telemetry/observe.ts";
import type { Backend } from "./session.ts";
import type { RunOptions } from "./database.ts";
import { CONNECT_MS, SLOW_MS } from "./sessions.ts";
import type { Failure } from "./database_error.ts";
import { DatabaseError, nameFault } from "./database_error.ts";
import type { Gate } from "./admission.ts";
import type { Pool } from "./pool.ts";
import type { Outcome } from "./statement.ts";
import { repeat } from "./statement.ts";

/** Sessions that are lent: how many at a time, which, and who hears how it went. */
export interface Lender {
  readonly gate: Gate;
  readonly pool: Pool;
  readonly observe: Observe;
  /** Told how each use of a session ended. */
  readonly used: (failure: Failure | undefined, backend: Backend) => void;
  /** Told how it ended at last, after what was repeated. */
  readonly settled: (failure: Failure | undefined) => void;
}

/** Who borrows, and after which failures once more. */
export interface Borrower extends RunOptions {
  readonly again: (failure: Failure) => boolean;
}

/**
 * Uses a session once the gate lets in, and gives it back. Whoever waited for a place waits less for
 * a session: a database that went silent keeps nobody for the sum of both.
 * @throws {DatabaseError}
 */
export async function borrow<T>(
  { gate, pool, observe, used, settled }: Lender,
  use: (backend: Backend) => Promise<Outcome<T>>,
  { write, share, client, again }: Borrower,
): Promise<T> {
  const startedMs = performance.now();
  const leave = await gate.enter({ share, client });
  if (typeof leave !== "function") {
    observe({ kind: "fault", fault: nameFault(leave) });
    throw new DatabaseError(leave, { write });
  }
  let left: Promise<void> | undefined;
  const attempt = async (): Promise<Outcome<T>> => {
    const leftMs = Math.max(SLOW_MS, startedMs + CONNECT_MS - performance.now());
    const backend = await pool.acquire(leftMs, client);
    if ("kind" in backend) return { failure: backend };
    try {
      const outcome = await use(backend);
      used(outcome.failure, backend);
      return outcome;
    } finally {
      left = backend.left;
      pool.release(backend);
    }
  };
  try {
    const first = await attempt();
    const failed = first.failure !== undefined;
    const outcome = failed ? await repeat(attempt, { first, again, observe }) : first;
    settled(outcome.failure);
    if (outcome.failure !== undefined) throw new DatabaseError(outcome.failure, { write });
    return outcome.rows;
  } finally {
    // Its place is free once Postgres works on the statement no more.
    if (left === undefined) leave();
    else left.then(leave);
  }
}
