import type { PendingQuery, Row, Sql } from "postgres";
import type { Observe } from "../observe.ts";
import type { Compile, Database, Step, StepResult, TransactionOptions } from "./database.ts";
import type { Failure } from "./failure.ts";
import { DEADLINE, fail, isBroken, nameFault, toApiError } from "./failure.ts";
import type { Gate } from "./gate.ts";
import type { Client } from "./driver.ts";
import type { Outcome, StatementOptions } from "./statement.ts";
import { ABORTED, repeat, runStatement, settle } from "./statement.ts";

/** The transaction's connection went away before the commit: nothing was kept. */
const LANE_LOST = fail("unavailable", "LANE_LOST");

/** What the lane's statements are given, and who hears of their failures. */
export interface LaneOptions extends StatementOptions {
  readonly observe?: Observe;
}

/**
 * Makes the lane: transactions on a connection of its own, one at a time, since the driver's
 * `begin` can open a transaction on a connection that others use.
 * @see RELIABILITY 0.3, 3a
 */
export function openLane(
  client: Client,
  gate: Gate,
  options: LaneOptions,
): Database["transact"] {
  async function transact<R extends Row>(
    steps: readonly Step[],
    { rollback, share, signal }: TransactionOptions,
  ): Promise<StepResult<R>> {
    const leave = await gate.enter({ share, signal });
    if (typeof leave !== "function") {
      options.observe?.({ kind: "fault", fault: nameFault(leave) });
      throw toApiError(leave, { write: true });
    }
    try {
      const outcome = await repeat(
        () => runTransaction(client, steps, { ...options, rollback, signal }),
        (failure) => failure === LANE_LOST,
        options.observe,
      );
      if (outcome.failure !== undefined) throw toApiError(outcome.failure, { write: true });
      return outcome.rows as StepResult<R>;
    } finally {
      leave();
    }
  }
  return transact;
}

async function runTransaction(
  client: Client,
  steps: readonly Step[],
  options: StatementOptions & TransactionOptions,
): Promise<Outcome<Row[]>> {
  const sql = client.sql();
  const closes = client.closes();
  // On a connection made anew a statement would stand alone, and be kept.
  const isLost = () => client.closes() !== closes;
  // Who goes away ends a step, never what opens and closes the transaction around them.
  const { signal, ...lasting } = options;
  const undo = (failure: Failure) => undoTransaction(client, failure, { ...lasting, isLost });

  const begun = await settle(command(sql, "begin"), lasting);
  if (begun.failure !== undefined) {
    if (!isBroken(begun.failure)) return begun;
    client.renew(sql);
    return begun.failure.kind === "lost" ? { failure: LANE_LOST } : begun;
  }
  let rows: Row[] = [];
  try {
    for (const step of steps) {
      if (isLost()) return { failure: LANE_LOST };
      const before = rows;
      const compile: Compile = (sql) => step(sql, before) as PendingQuery<Row[]>;
      const outcome = await runStatement(sql, compile, options);
      if (outcome.failure !== undefined) return { failure: await undo(outcome.failure) };
      rows = outcome.rows;
    }
  } catch (error) {
    // A statement that can not be compiled must not leave the transaction open.
    await undo(LANE_LOST);
    throw error;
  }
  if (isLost()) return { failure: LANE_LOST };
  if (signal?.aborted) return { failure: await undo(ABORTED) };
  if (!options.rollback) {
    const kept = await settle(command(sql, "commit"), lasting);
    if (kept.failure === undefined) return { rows };
    if (isBroken(kept.failure)) client.renew(sql);
    return kept;
  }
  // Deferred constraints are judged at a commit that never comes.
  const judged = await settle(command(sql, "set constraints all immediate"), lasting);
  if (judged.failure !== undefined) return { failure: await undo(judged.failure) };
  await undo(LANE_LOST);
  return { rows };
}

/**
 * Ends a transaction that is not to be kept; a connection that can not do that is given up. Gives
 * the failure in the light of that: whatever happened, nothing was kept.
 */
async function undoTransaction(
  client: Client,
  failure: Failure,
  options: StatementOptions & { readonly isLost: () => boolean },
): Promise<Failure> {
  const sql = client.sql();
  if (failure.kind === "lost" || options.isLost()) {
    client.renew(sql);
    return LANE_LOST;
  }
  if (failure.code === DEADLINE) {
    client.renew(sql);
    return fail("timeout", "LANE_DEADLINE");
  }
  const undone = await settle(command(sql, "rollback"), options);
  if (undone.failure !== undefined) client.renew(sql);
  return failure;
}

/** One of the lane's four constants, in the simple protocol: one message, nothing prepared. */
function command(
  sql: Sql,
  text: "begin" | "commit" | "rollback" | "set constraints all immediate",
): PendingQuery<Row[]> {
  return sql.unsafe(text);
}
