import type { PendingQuery, Row } from "postgres";
import type { Observe } from "../observe.ts";
import type { Backend } from "./backend.ts";
import type { Compile, Database, Step, StepResult, TransactionOptions } from "./database.ts";
import type { Failure } from "./failure.ts";
import { DEADLINE, fail, LANE_DEADLINE, nameFault, toApiError } from "./failure.ts";
import type { Gate } from "./gate.ts";
import type { Pool } from "./pool.ts";
import type { Outcome, StatementOptions } from "./statement.ts";
import { ABORTED, repeat, runStatement, settle } from "./statement.ts";

/** The transaction's connection went away before the commit: nothing was kept. */
const LANE_LOST = fail("unavailable", "LANE_LOST");

/** What the lane's statements are given, and who hears of their failures. */
export interface LaneOptions extends StatementOptions {
  readonly observe?: Observe;
  /** Told how each transaction ended. */
  readonly settled: (failure: Failure | undefined) => void;
}

/**
 * Makes the lane: transactions on a session of its own, one at a time, since the driver's `begin`
 * can open a transaction on a connection that others use.
 * @see RELIABILITY 0.3, 3a
 */
export function openLane(
  pool: Pool,
  gate: Gate,
  options: LaneOptions,
): Database["transact"] {
  async function attempt(
    steps: readonly Step[],
    { rollback, client }: TransactionOptions,
  ): Promise<Outcome<Row[]>> {
    const backend = await pool.acquire(client);
    if ("kind" in backend) return { failure: backend };
    try {
      return await runTransaction(backend, steps, { ...options, rollback, client });
    } finally {
      pool.release(backend);
    }
  }

  async function transact<R extends Row>(
    steps: readonly Step[],
    { rollback, share, client }: TransactionOptions,
  ): Promise<StepResult<R>> {
    const leave = await gate.enter({ share, client });
    if (typeof leave !== "function") {
      options.observe?.({ kind: "fault", fault: nameFault(leave) });
      throw toApiError(leave, { write: true });
    }
    try {
      const outcome = await repeat(
        () => attempt(steps, { rollback, client }),
        (failure) => failure === LANE_LOST,
        options.observe,
      );
      options.settled(outcome.failure);
      if (outcome.failure !== undefined) throw toApiError(outcome.failure, { write: true });
      return outcome.rows as StepResult<R>;
    } finally {
      leave();
    }
  }
  return transact;
}

async function runTransaction(
  backend: Backend,
  steps: readonly Step[],
  options: StatementOptions & TransactionOptions,
): Promise<Outcome<StepResult>> {
  // Who goes away ends a step, never what opens and closes the transaction around them.
  const { client, ...lasting } = options;
  const undo = (failure: Failure) => undoTransaction(backend, failure, lasting);
  const begun = await settle(backend, command(backend, "begin"), lasting);
  if (begun.failure !== undefined) {
    return begun.failure.kind === "lost" ? { failure: LANE_LOST } : begun;
  }
  let rows: StepResult = Object.assign([], { count: 0 });
  try {
    for (const step of steps) {
      if (!backend.isOpen()) return { failure: LANE_LOST };
      const before = rows;
      const compile: Compile = (sql) => step(sql, before) as PendingQuery<Row[]>;
      const outcome = await runStatement(backend, compile, options);
      if (outcome.failure !== undefined) return { failure: await undo(outcome.failure) };
      rows = outcome.rows;
    }
  } catch (error) {
    // A statement that can not be compiled must not leave the transaction open.
    await undo(LANE_LOST);
    throw error;
  }
  if (!backend.isOpen()) return { failure: LANE_LOST };
  if (client?.signal.aborted) return { failure: await undo(ABORTED) };
  if (!options.rollback) {
    const kept = await settle(backend, command(backend, "commit"), lasting);
    return kept.failure === undefined ? { rows } : kept;
  }
  // Deferred constraints are judged at a commit that never comes.
  const judged = await settle(backend, command(backend, "set constraints all immediate"), lasting);
  if (judged.failure !== undefined) return { failure: await undo(judged.failure) };
  await undo(LANE_LOST);
  return { rows };
}

/**
 * Ends a transaction that is not to be kept; a session that can not do that is given up. Gives the
 * failure in the light of that: whatever happened, nothing was kept.
 */
async function undoTransaction(
  backend: Backend,
  failure: Failure,
  options: StatementOptions,
): Promise<Failure> {
  if (failure.code === DEADLINE) return fail("timeout", LANE_DEADLINE);
  if (failure === ABORTED && !backend.isOpen()) return failure;
  if (failure.kind === "lost" || !backend.isOpen()) return LANE_LOST;
  const undone = await settle(backend, command(backend, "rollback"), options);
  if (undone.failure !== undefined) backend.destroy();
  return failure;
}

/** One of the lane's four constants, in the simple protocol: one message, nothing prepared. */
function command(
  { sql }: Backend,
  text: "begin" | "commit" | "rollback" | "set constraints all immediate",
): PendingQuery<Row[]> {
  return sql.unsafe(text);
}
