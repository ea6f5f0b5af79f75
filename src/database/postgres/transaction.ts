import type { PendingQuery, Row, Rows, Sql } from "./driver.ts";
import type { Session } from "./session.ts";
import type {
  AttemptedSteps,
  Client,
  Compile,
  Database,
  StepGroup,
  TransactionOptions,
  TransactionStep,
} from "./database.ts";
import { type SessionSource, withSession } from "./with_session.ts";
import { DatabaseError, type Failure, makeFailure } from "./database_error.ts";
import {
  DEADLINE,
  TRANSACTION_DEADLINE,
  TRANSACTION_LOST,
  TRANSACTION_TIMEOUT,
} from "./failure_kind.ts";
import type { Outcome, StatementOptions } from "./statement.ts";
import { ABORTED, settle, settleAll } from "./statement.ts";

/**
 * The connection was lost before the commit, so nothing was changed. It is `unavailable`, because
 * `lost` means that the outcome of a write is unknown.
 */
const LOST_BEFORE_COMMIT = makeFailure("unavailable", TRANSACTION_LOST);
/** The transaction took too long, and nothing was changed. */
const TOO_LONG = makeFailure("timeout", TRANSACTION_TIMEOUT);

/** The limits of transactions and of their statements. */
export interface TransactOptions extends StatementOptions {
  /** Milliseconds from `begin` to `commit`. */
  readonly limitMs: number;
}

/**
 * Makes the function that runs transactions. It does not use the driver's `begin`, which can open one
 * on a connection that others use: here, a session runs nothing else meanwhile. Each transaction ends
 * before requests that wait for its session give up.
 * @see D5, P16
 */
export function createTransact(
  source: SessionSource,
  options: TransactOptions,
): Database["transact"] {
  return async function transact<R extends Row>(
    steps: readonly TransactionStep[],
    { rollback, tenant, client, onFailure }: TransactionOptions,
  ): Promise<Rows<R>> {
    const rows = await withSession(
      source,
      (session) =>
        runTransaction(session, steps, { rollback, tenant, client, onFailure, ...options }),
      { write: true, tenant, client },
    );
    return rows as Rows<R>;
  };
}

async function runTransaction(
  session: Session,
  steps: readonly TransactionStep[],
  { client: waiting, limitMs, ...options }: TransactOptions & TransactionOptions,
): Promise<Outcome<Rows>> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), limitMs);
  try {
    const client = limitClient(waiting, limit.signal);
    const outcome = await runWhole(session, steps, { client, ...options });
    return outcome.failure === ABORTED && limit.signal.aborted ? { failure: TOO_LONG } : outcome;
  } finally {
    clearTimeout(timer);
  }
}

/** Returns a client that also counts as disconnected when the time is over. */
function limitClient(client: Client | undefined, limit: AbortSignal): Client {
  return {
    get signal() {
      return client === undefined ? limit : AbortSignal.any([limit, client.signal]);
    },
  };
}

async function runWhole(
  session: Session,
  steps: readonly TransactionStep[],
  options: StatementOptions & TransactionOptions,
): Promise<Outcome<Rows>> {
  // The client's signal may end a step, but not the commands that begin and end the transaction.
  const { client, onFailure: _, ...lasting } = options;
  const undo = (failure: Failure) => undoTransaction(session, failure, lasting);
  const begun = await settle(session, COMMANDS.begin(session.sql), lasting);
  if (begun.failure !== undefined) {
    return begun.failure.kind === "lost" ? lose(session) : begun;
  }
  let rows: Rows;
  try {
    const outcome = await runSteps(session, steps, { before: noRows(), ...options });
    if (outcome.failure !== undefined) return { failure: await undo(outcome.failure) };
    rows = outcome.rows;
  } catch (error) {
    // If a statement cannot be compiled, the transaction must not stay open.
    await rollBack(session, lasting);
    throw error;
  }
  if (!session.isOpen()) return lose(session);
  if (client?.signal.aborted) return { failure: await undo(ABORTED) };
  // Deferred constraints are checked while they can still be cancelled, not in the commit.
  const checked = await settle(session, COMMANDS.check(session.sql), options);
  if (checked.failure !== undefined) return { failure: await undo(checked.failure) };
  if (!session.isCertain()) return { failure: await undo(ABORTED) };
  if (!options.rollback) {
    const kept = await settle(session, COMMANDS.commit(session.sql), lasting);
    return kept.failure === undefined ? { rows } : kept;
  }
  await rollBack(session, lasting);
  return { rows };
}

interface StepOptions extends StatementOptions, Pick<TransactionOptions, "onFailure"> {
  /** The rows of the step before. */
  readonly before: Rows;
}

/** Runs steps within a transaction; gives the rows of the last. */
async function runSteps(
  session: Session,
  steps: readonly TransactionStep[],
  { before, ...options }: StepOptions,
): Promise<Outcome<Rows>> {
  let rows = before;
  for (const step of steps) {
    if (!session.isOpen()) return lose(session);
    // The cancel request came after the previous step had ended.
    if (!session.isCertain()) return { failure: ABORTED };
    const outcome = await runStep(session, step, { before: rows, ...options });
    if (outcome.failure !== undefined) return outcome;
    rows = outcome.rows;
  }
  return { rows };
}

function runStep(
  session: Session,
  step: TransactionStep,
  options: StepOptions,
): Promise<Outcome<Rows>> {
  if (typeof step === "function") return runGroup(session, { steps: [step] }, options);
  if ("later" in step) return runSteps(session, step.later(), options);
  return "attempted" in step
    ? attemptSteps(session, step, options)
    : runGroup(session, step, options);
}

/** Runs steps in a savepoint, again and again if they are to be repeated. */
async function attemptSteps(
  session: Session,
  { attempted, onFailed }: AttemptedSteps,
  options: StepOptions,
): Promise<Outcome<Rows>> {
  const send = (command: keyof typeof COMMANDS) =>
    settle(session, COMMANDS[command](session.sql), options);
  for (;;) {
    const saved = await send("save");
    if (saved.failure !== undefined) return saved;
    let error: unknown;
    let failure: Failure | undefined;
    try {
      const outcome = await runSteps(session, attempted, options);
      if (outcome.failure === undefined) {
        const released = await send("release");
        return released.failure === undefined ? outcome : released;
      }
      ({ failure } = outcome);
      error = new DatabaseError(failure, { write: true });
    } catch (thrown) {
      error = thrown;
    }
    if (failure?.endsSession || failure === ABORTED || !session.isOpen()) {
      return { failure: failure ?? lose(session).failure };
    }
    for (const command of ["restore", "release"] as const) {
      const undone = await send(command);
      if (undone.failure !== undefined) return undone;
    }
    const after = await onFailed(
      error,
      (compile, { write }) => readInside(session, compile, { write, ...options }),
    );
    if (after === "end" && failure === undefined) throw error;
    if (after === "end") return { failure: failure! };
    if (after === "next") return { rows: noRows() };
  }
}

/** Runs a statement within a transaction, which goes on if the statement fails. */
async function readInside<R extends Row>(
  session: Session,
  compile: Compile<R>,
  { write, ...options }: StepOptions & { readonly write: boolean },
): Promise<R[]> {
  const { cache, tenant } = options;
  const send = async (command: "save" | "restore" | "release") => {
    const { failure } = await settle(session, COMMANDS[command](session.sql), options);
    if (failure !== undefined) throw new DatabaseError(failure, { write });
  };
  await send("save");
  const outcome = await settle(session, cache.compile(session.sql, compile, tenant), options);
  if (outcome.failure !== undefined && session.isOpen()) await send("restore");
  if (session.isOpen()) await send("release");
  if (outcome.failure !== undefined) throw new DatabaseError(outcome.failure, { write });
  return [...outcome.rows];
}

/** Runs the steps of a group, which are sent at once; gives the rows of all. */
async function runGroup(
  session: Session,
  { steps, take }: Pick<StepGroup, "steps"> & Partial<Pick<StepGroup, "take">>,
  { before, onFailure, ...options }: StepOptions,
): Promise<Outcome<Rows>> {
  const { tenant, cache } = options;
  const queries = steps.map((one) =>
    cache.compile(session.sql, (sql) => one(sql, before) as PendingQuery<Row[]>, tenant)
  );
  let rows = noRows();
  for (const [place, outcome] of (await settleAll(session, queries, options)).entries()) {
    if (outcome.failure !== undefined) {
      // The error of an earlier update may have to be reported instead.
      if (place > 0) take?.(rows);
      onFailure?.(steps[place]!);
      return outcome;
    }
    rows = place === 0 ? outcome.rows : joinRows(rows, outcome.rows);
  }
  take?.(rows);
  return { rows };
}

function noRows(): Rows {
  return Object.assign([], { count: 0 });
}

function joinRows(first: Rows, second: Rows): Rows {
  return Object.assign([...first, ...second], { count: first.count + second.count });
}

/**
 * Rolls a transaction back after a failure, and returns the failure that results: in any case,
 * nothing was changed.
 */
async function undoTransaction(
  session: Session,
  failure: Failure,
  options: StatementOptions,
): Promise<Failure> {
  if (failure.code === DEADLINE) return makeFailure("timeout", TRANSACTION_DEADLINE);
  if (failure === ABORTED && !session.isOpen()) return failure;
  if (failure.kind === "lost" || !session.isOpen()) return lose(session, failure).failure;
  await rollBack(session, options);
  return failure;
}

/**
 * Returns the failure of a transaction whose session ended: the limit of the database that ended it, if
 * it was one.
 */
function lose(session: Session, failure?: Failure): { readonly failure: Failure } {
  const reason = [failure, session.farewell()].find((one) =>
    one?.endsSession && one.kind !== "lost"
  );
  return { failure: reason ?? LOST_BEFORE_COMMIT };
}

/** Rolls a transaction back, and closes the session if that fails. */
async function rollBack(session: Session, options: StatementOptions): Promise<void> {
  if (!session.isOpen()) return;
  // A late cancel request must not hit the rollback.
  if (!await session.awaitCancels()) return session.destroy();
  const undone = await settle(session, COMMANDS.rollback(session.sql), options);
  // A session that did not answer is abandoned already, and keeps its place.
  if (undone.failure !== undefined && session.released === undefined) session.destroy();
}

/** Commands in the simple protocol: one message each, and nothing is prepared. */
const COMMANDS = {
  begin: (sql: Sql) => sql`begin`.simple(),
  check: (sql: Sql) => sql`set constraints all immediate`.simple(),
  commit: (sql: Sql) => sql`commit`.simple(),
  rollback: (sql: Sql) => sql`rollback`.simple(),
  save: (sql: Sql) => sql`savepoint "$attempt"`.simple(),
  release: (sql: Sql) => sql`release savepoint "$attempt"`.simple(),
  restore: (sql: Sql) => sql`rollback to savepoint "$attempt"`.simple(),
} as const;
