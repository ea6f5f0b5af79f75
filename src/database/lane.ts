import type { PendingQuery, Row, Sql } from "postgres";
import type { Compile, Database, TransactionOptions } from "./database.ts";
import type { Failure } from "./failure.ts";
import { DEADLINE, fail, toApiError } from "./failure.ts";
import type { Gate } from "./gate.ts";
import type { Client } from "./driver.ts";
import type { Outcome, StatementOptions } from "./statement.ts";
import { repeat, runStatement, settle } from "./statement.ts";

/** The transaction's connection went away before the commit: nothing was kept. */
const LANE_LOST = fail("unavailable", "LANE_LOST");

/**
 * Makes the lane: transactions on a connection of its own, one at a time, since the driver's
 * `begin` can open a transaction on a connection that others use.
 * @see RELIABILITY 0.3, 3a
 */
export function openLane(
  client: Client,
  gate: Gate,
  options: StatementOptions,
): Database["transact"] {
  async function transact<R extends Row>(
    statements: readonly Compile[],
    { rollback }: TransactionOptions,
  ): Promise<R[]> {
    const leave = await gate.enter();
    if (typeof leave !== "function") throw toApiError(leave, { write: true });
    try {
      const outcome = await repeat(
        () => runTransaction(client, statements, { ...options, rollback }),
        (failure) => failure === LANE_LOST,
      );
      if (outcome.failure !== undefined) throw toApiError(outcome.failure, { write: true });
      return outcome.rows as R[];
    } finally {
      leave();
    }
  }
  return transact;
}

async function runTransaction(
  client: Client,
  statements: readonly Compile[],
  options: StatementOptions & TransactionOptions,
): Promise<Outcome<Row[]>> {
  const sql = client.sql();
  const closes = client.closes();
  // On a connection made anew a statement would stand alone, and be kept.
  const lost = () => client.closes() !== closes;

  const begun = await settle(command(sql, "begin"), options);
  if (begun.failure !== undefined) return await undo(client, begun.failure, options);
  let rows: Row[] = [];
  try {
    for (const compile of statements) {
      if (lost()) return { failure: LANE_LOST };
      const outcome = await runStatement(sql, compile, options);
      if (outcome.failure !== undefined) return await undo(client, outcome.failure, options);
      rows = outcome.rows;
    }
  } catch (error) {
    // A statement that can not be compiled must not leave the transaction open.
    await undo(client, fail("unknown", "COMPILE"), options);
    throw error;
  }
  if (lost()) return { failure: LANE_LOST };
  if (!options.rollback) {
    const kept = await settle(command(sql, "commit"), options);
    if (kept.failure === undefined) return { rows };
    if (kept.failure.kind === "lost" || kept.failure.code === DEADLINE) client.renew(sql);
    return kept;
  }
  // Deferred constraints are judged at a commit that never comes.
  const judged = await settle(command(sql, "set constraints all immediate"), options);
  if (judged.failure !== undefined) return await undo(client, judged.failure, options);
  await undo(client, LANE_LOST, options);
  return { rows };
}

/** Ends a transaction that is not to be kept; a connection that can not do that is given up. */
async function undo(
  client: Client,
  failure: Failure,
  options: StatementOptions,
): Promise<{ readonly failure: Failure }> {
  const sql = client.sql();
  if (failure.code === DEADLINE) {
    client.renew(sql);
    return { failure: failure.kind === "timeout" ? fail("timeout", "LANE_DEADLINE") : failure };
  }
  if (failure.kind === "lost") {
    client.renew(sql);
    return { failure: LANE_LOST };
  }
  if (failure.kind === "unavailable" && failure !== LANE_LOST && failure.code !== "25006") {
    return { failure };
  }
  const undone = await settle(command(sql, "rollback"), options);
  if (undone.failure !== undefined) client.renew(sql);
  return { failure };
}

/** One of the lane's four constants, in the simple protocol: one message, nothing prepared. */
function command(
  sql: Sql,
  text: "begin" | "commit" | "rollback" | "set constraints all immediate",
): PendingQuery<Row[]> {
  return sql.unsafe(text);
}
