import type { Row } from "./driver.ts";
import type { Config } from "../config/config.ts";
import type { Observe } from "../telemetry/observe.ts";
import { watchAbandoned } from "./abandoned.ts";
import { observeAvailability } from "./availability.ts";
import type { Backend } from "./session.ts";
import { borrow, type Lender } from "./borrow.ts";
import { openCircuit } from "./circuit.ts";
import { planStatementSettings } from "./connection.ts";
import type { Compile, Database, RunOptions, Step, TransactionOptions } from "./database.ts";
import { type EmbeddedServer, planSessions } from "./sessions.ts";
import type { Failure } from "./database_error.ts";
import { DatabaseError, DEADLINE, LANE_DEADLINE } from "./database_error.ts";
import { type Gate, type GateOptions, openGate, type WatchGate } from "./admission.ts";
import { openLane } from "./transaction.ts";
import { openListeners } from "./listener.ts";
import type { Pool } from "./pool.ts";
import { openPool } from "./pool.ts";
import { openStatementCache } from "./statement_cache.ts";
import type { StatementOptions } from "./statement.ts";
import { runStatement } from "./statement.ts";
import { openTogether } from "./pipeline.ts";

/** Beyond Postgres's own timeout, before we take a backend for frozen. */
const GRACE_MS = 3000;
/** How long a session of the pool rests, and lives. */
const IDLE_MS = 60_000;
const LIFE_MS = 1_800_000;
/** SQLSTATE of a write where only reading is possible. */
const READ_ONLY = "25006";
const RENEW_MS = 500;
/** The same for a session that is newer than the last renewal, which did not help. */
const STILL_READ_ONLY_MS = 60_000;

/** What openDatabase can be given besides the configuration. */
export interface OpenOptions {
  /** The embedded Postgres, in place of `DATABASE_URL`; closed with the database. */
  readonly embedded?: EmbeddedServer | undefined;
}

/**
 * Opens the database of the configuration, which may be unavailable at first, or the embedded one.
 * @throws {Error} when DATABASE_URL cannot be parsed
 * @see R1
 */
export function openDatabase(
  config: Config,
  observe: Observe,
  { embedded }: OpenOptions = {},
): Database {
  // PGlite has one session: a second statement would only wait inside of it.
  const poolSize = embedded === undefined ? config.poolSize : 1;
  const statement: StatementOptions = {
    cache: openStatementCache({
      onGrow: (statements) => observe({ kind: "prepared", statements }),
    }),
    deadlineMs: config.statementTimeoutMs + GRACE_MS,
  };
  const open = planSessions(config, embedded);
  const circuit = openCircuit();
  const wear = embedded === undefined ? { idleMs: IDLE_MS, lifeMs: LIFE_MS } : {};
  const watch = watchAbandoned({ open, observe });
  const abandoned = watch.add;
  const pool = openPool({ size: poolSize, open, circuit, abandoned, ...wear });
  const size = embedded === undefined ? config.transactions : 1;
  const { transactionTimeoutMs } = config;
  const openBounded = planSessions(boundTransactions(config), embedded);
  const bounded = openPool({ size, open: openBounded, circuit, abandoned, ...wear });
  const pools = [pool, bounded];
  const settled = observeAvailability(observe);
  const used = renewAfter(pools);
  const lend = (pool: Pool, gate: Gate): Lender => ({
    pool,
    gate,
    observe,
    used,
    settled,
  });
  const openWatched = (name: string, size: number, options: GateOptions = {}) =>
    openGate(size, config.poolWaitMs, { watch: watchGate(name, observe), ...options });
  const statements = lend(pool, openWatched("statements", poolSize));
  const runTogether = openTogether(statements, statement);
  const transactions = lend(bounded, openWatched("transactions", size, { mostOfShare: 1 }));
  const transactOfTenant = openLane(transactions, {
    ...statement,
    limitMs: transactionTimeoutMs,
    deadlineMs: Math.min(statement.deadlineMs, transactionTimeoutMs + GRACE_MS),
  });
  // What the service does for itself, such as making its schema, has all the time of a statement.
  const own = openPool({ size: 1, open, circuit, abandoned, ...wear });
  pools.push(own);
  const ofItsOwn = { ...statement, limitMs: statement.deadlineMs };
  const transactOwn = openLane(lend(own, openGate(1, config.poolWaitMs)), ofItsOwn);
  const listeners = openListeners(open, circuit);

  function run<R extends Row>(compile: Compile<R>, options: RunOptions): Promise<R[]> {
    const { write, client } = options;
    return borrow(
      statements,
      (backend) => runStatement(backend, compile, { ...statement, client }),
      { ...options, again: ({ kind }) => kind === "lost" && !write },
    );
  }

  function transact<R extends Row>(steps: readonly Step[], options: TransactionOptions) {
    const run = options.share === undefined ? transactOwn : transactOfTenant;
    return run<R>(steps, options);
  }

  async function listen(channel: string, notified: () => void): Promise<void> {
    if (embedded !== undefined || !config.prepare) return;
    await listeners.listen(channel, notified);
  }

  async function close(timeoutMs: number): Promise<void> {
    listeners.close();
    await Promise.all(pools.map((pool) => pool.close(timeoutMs)));
    watch.close();
    await embedded?.close();
  }

  const settings = embedded === undefined ? planStatementSettings(config) : {};
  return { settings, run, runTogether, transact, listen, close };
}

/** A part of a transaction ends before the whole must: what waits for a lock is told so. */
const LOCK_PART = 0.75;

/** Gives the configuration of sessions for transactions, whose statements have less time. */
function boundTransactions(config: Config): Config {
  const { transactionTimeoutMs: limitMs, statementTimeoutMs, lockTimeoutMs } = config;
  return {
    ...config,
    statementTimeoutMs: Math.min(statementTimeoutMs, limitMs),
    lockTimeoutMs: Math.min(lockTimeoutMs, Math.ceil(LOCK_PART * limitMs)),
  };
}

/**
 * Has new sessions made when one was lost or is silent, since others that rest may be as dead without
 * having heard of it.
 */
function renewAfter(pools: readonly Pool[]): Lender["used"] {
  let renewedMs = -Infinity;
  return (failure, backend) => {
    if (failure === undefined) return;
    const isLost = failure.kind === "lost" || isSilent(failure);
    if (!isLost && !becameReadOnly(failure, backend, renewedMs)) return;
    renewedMs = performance.now();
    for (const pool of pools) pool.renew();
  };
}

/**
 * Tells whether a server that took writes when the session was opened takes none any more: after a
 * failover the primary is somewhere else. A server that was read-only all along is no reason for new
 * sessions, and neither is a foreign one behind it, which new sessions would find as it is.
 */
function becameReadOnly({ code }: Failure, backend: Backend, renewedMs: number): boolean {
  if (code !== READ_ONLY || backend.readOnly) return false;
  const restMs = backend.openedMs > renewedMs ? STILL_READ_ONLY_MS : RENEW_MS;
  return performance.now() - renewedMs > restMs;
}

function isSilent({ code }: Failure): boolean {
  return code === DEADLINE || code === LANE_DEADLINE;
}

/** Tells how a pool stands, under its name. */
function watchGate(pool: string, observe: Observe): WatchGate {
  return {
    moved: (size, inUse, waiting) => observe({ kind: "pool", pool, size, inUse, waiting }),
    waited: (waitedMs) => observe({ kind: "pool_wait", pool, waitedMs }),
  };
}

/**
 * Asks the database for a sign of life; gives the failure when there is none.
 * @see H14
 */
export async function probeDatabase(database: Database): Promise<Failure | undefined> {
  try {
    await database.run((sql) => sql`select 1`, { write: false });
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
}
