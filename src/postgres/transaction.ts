import type { PendingQuery, Row, Rows, Sql } from "./driver.ts";
import type { Backend } from "./session.ts";
import type { Client, Compile, Database, Step, TransactionOptions } from "./database.ts";
import { borrow, type Lender } from "./borrow.ts";
import type { Failure } from "./database_error.ts";
import { DEADLINE, fail, LANE_DEADLINE } from "./database_error.ts";
import type { Outcome, StatementOptions } from "./statement.ts";
import { ABORTED, runStatement, settle } from "./statement.ts";

/** The transaction's connection went away before the commit: nothing was kept. */
const LANE_LOST = fail("unavailable", "LANE_LOST");
/** It took longer than a transaction may: nothing was kept. */
const TOO_LONG = fail("timeout", "TRANSACTION_TIMEOUT");

/** What transactions are given besides their statements. */
export interface LaneOptions extends StatementOptions {
  /** Milliseconds from `begin` to the commit. */
  readonly limitMs: number;
}

/**
 * Makes the lane: transactions on sessions of their own, one of each tenant at a time, since the
 * driver's `begin` can open a transaction on a connection that others use. Each ends before those who
 * wait for its session give up.
 * @see D5, P16
 */
export function openLane(lender: Lender, options: LaneOptions): Database["transact"] {
  return async function transact<R extends Row>(
    steps: readonly Step[],
    { rollback, share, client }: TransactionOptions,
  ): Promise<Rows<R>> {
    const rows = await borrow(
      lender,
      (backend) => runTransaction(backend, steps, { ...options, rollback, client }),
      { write: true, share, client, again: (failure) => failure === LANE_LOST },
    );
    return rows as Rows<R>;
  };
}

async function runTransaction(
  backend: Backend,
  steps: readonly Step[],
  options: LaneOptions & TransactionOptions,
): Promise<Outcome<Rows>> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), options.limitMs);
  try {
    const outcome = await runSteps(backend, steps, {
      ...options,
      client: joinClients(limit, options),
    });
    return outcome.failure === ABORTED && limit.signal.aborted ? { failure: TOO_LONG } : outcome;
  } finally {
    clearTimeout(timer);
  }
}

/** Ends a step when the time is over, or the client goes away. */
function joinClients(limit: Client, { client }: TransactionOptions): Client {
  return {
    get signal() {
      return client === undefined ? limit.signal : AbortSignal.any([limit.signal, client.signal]);
    },
  };
}

async function runSteps(
  backend: Backend,
  steps: readonly Step[],
  options: StatementOptions & TransactionOptions,
): Promise<Outcome<Rows>> {
  // It ends a step, never what opens and closes the transaction around them.
  const { client, ...lasting } = options;
  const undo = (failure: Failure) => undoTransaction(backend, failure, lasting);
  const begun = await settle(backend, COMMANDS.begin(backend.sql), lasting);
  if (begun.failure !== undefined) {
    return begun.failure.kind === "lost" ? { failure: LANE_LOST } : begun;
  }
  let rows: Rows = Object.assign([], { count: 0 });
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
  // Deferred constraints are checked while they can still be cancelled, not in the commit.
  const judged = await settle(backend, COMMANDS.check(backend.sql), options);
  if (judged.failure !== undefined) return { failure: await undo(judged.failure) };
  if (!options.rollback) {
    const kept = await settle(backend, COMMANDS.commit(backend.sql), lasting);
    return kept.failure === undefined ? { rows } : kept;
  }
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
  const undone = await settle(backend, COMMANDS.rollback(backend.sql), options);
  // One that did not even answer was abandoned by then, and keeps its place.
  if (undone.failure !== undefined && backend.left === undefined) backend.destroy();
  return failure;
}

/** In the simple protocol: one message, and nothing is prepared. */
const COMMANDS = {
  begin: (sql: Sql) => sql`begin`.simple(),
  check: (sql: Sql) => sql`set constraints all immediate`.simple(),
  commit: (sql: Sql) => sql`commit`.simple(),
  rollback: (sql: Sql) => sql`rollback`.simple(),
} as const;
