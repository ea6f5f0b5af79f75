import type { Config } from "../config/config.ts";
import type { Observe } from "../telemetry/observe.ts";
import { watchAbandoned } from "./pool/abandoned.ts";
import { type Gate, type GateOptions, openGate, type WatchGate } from "./pool/admission.ts";
import { openCircuit } from "./circuit.ts";
import { type Address, planConnection, planStatementSettings } from "./connection.ts";
import type {
  Compile,
  Database,
  RunOptions,
  Step,
  StepGroup,
  TransactionOptions,
} from "./database.ts";
import {
  DatabaseError,
  DEADLINE,
  type Failure,
  makeFailure,
  TRANSACTION_DEADLINE,
} from "./database_error.ts";
import type { Row } from "./driver.ts";
import { type Fence, openFence } from "./fence.ts";
import { keepingOf } from "./kept_statements.ts";
import { openListeners } from "./listener.ts";
import { openPoolerMode } from "./pooler_mode.ts";
import { createSessionOpener, type EmbeddedServer } from "./session_opener.ts";
import { createPipeline } from "./pipeline.ts";
import { openPool, type Pool } from "./pool/pool.ts";
import { seekPrimary } from "./seek_primary.ts";
import { createPrimer } from "./pool/pool_care.ts";
import type { Session } from "./session.ts";
import { runStatement, type StatementOptions } from "./statement.ts";
import { openStatementCache, type StatementCache } from "./statement_cache.ts";
import { openStreams } from "./stream.ts";
import { createTransact } from "./transaction.ts";
import { observeAvailability, type SessionSource, withSession } from "./pool/with_session.ts";

/** Time after Postgres's own timeout until the backend of a statement counts as frozen. */
const GRACE_MS = 3000;
/** Time after which a session is replaced. */
const LIFE_MS = 1_800_000;
/** SQLSTATE of a write on a server that only reads. */
const READ_ONLY = "25006";
/** Least time between two renewals of the sessions for a read-only server. */
const RENEW_MS = 500;
/** The same for a session that was opened after the last renewal, which did not help. */
const STILL_READ_ONLY_MS = 60_000;

/** Options of `openDatabase` besides the configuration. */
export interface OpenOptions {
  /** The embedded Postgres, in place of `DATABASE_URL`; closed with the database. */
  readonly embedded?: EmbeddedServer | undefined;
  /** One server, in place of the hosts of `DATABASE_URL`. */
  readonly only?: {
    readonly address: Address;
    readonly refuse: Fence["refuse"];
  };
}

/**
 * Opens the database of the configuration, or the embedded one. It may be unavailable at first. There
 * are three pools: for statements, for the transactions of tenants, and for the service's own
 * transactions.
 * @throws {Error} if DATABASE_URL cannot be parsed
 * @see R1
 */
export function openDatabase(
  config: Config,
  observe: Observe,
  { embedded, only }: OpenOptions = {},
): Database {
  const pools: Pool[] = [];
  function renew(): void {
    for (const pool of pools) pool.renew();
    listeners.renew();
  }
  /** Sessions of a standby are in use, since no primary was found. */
  let standsIn = false;
  const fence = openFence({ observe, onNewTimeline: renew });
  const refuse: Fence["refuse"] = only?.refuse ?? ((server) => {
    const refusal = fence.refuse(server);
    if (refusal !== undefined || !standsIn || server.timeline === undefined) return refusal;
    standsIn = false;
    renew();
    return undefined;
  });
  const mode = openPoolerMode(config.prepare);
  const seeker = seekPrimary({
    open: createSessionOpener(config, { embedded, refuse, mode, role: "primary" }),
  });
  const mayStandIn = embedded === undefined && only === undefined && canStandIn(config);
  function onStandIn(): void {
    standsIn = true;
    if (mayStandIn) seeker.start();
  }
  const opening = only === undefined
    ? { embedded, refuse, mode, onStandIn }
    : { embedded, refuse, mode, only: only.address };
  const open = createSessionOpener(config, opening);
  const openShorter = createSessionOpener(limitStatements(config), opening);
  const circuit = openCircuit();
  const abandoned = watchAbandoned({ open, observe });
  const cache = openStatementCache({
    prepare: config.prepare !== false,
    shared: embedded !== undefined,
    onChange: (statements) => observe({ kind: "prepared", statements }),
  });
  const common = {
    circuit,
    onAbandoned: abandoned.add,
    ...(embedded === undefined ? { idleMs: config.poolIdleMs, lifeMs: LIFE_MS } : {}),
  };
  // PGlite has one session: a second statement would only wait inside it.
  const poolSize = embedded === undefined ? config.poolSize : 1;
  const transactions = embedded === undefined ? config.transactions : 1;
  const pool = openPool({
    size: poolSize,
    open,
    ...common,
    ...(embedded === undefined
      ? { idleSize: config.poolIdleSize ?? poolSize, primer: createPrimer(cache) }
      : {}),
  });
  const transactionPool = openPool({ size: transactions, open: openShorter, ...common });
  const ownPool = openPool({ size: 1, open, ...common });
  pools.push(pool, transactionPool, ownPool);

  const onUsed = renewAfterLoss(pools);
  const onSettled = observeAvailability(observe);
  const limit = (name: string, size: number, options: GateOptions = {}) =>
    openGate(size, config.poolWaitMs, { watch: watchGate(name, observe), ...options });
  const source = (pool: Pool, gate: Gate): SessionSource => (
    { pool, gate, observe, onUsed, onSettled }
  );

  const statement: StatementOptions = {
    cache,
    deadlineMs: config.statementTimeoutMs + GRACE_MS,
  };
  const inTransactions = { ...statement, cache: avoidShared(cache) };
  const statements = source(pool, limit("statements", poolSize));
  const limitMs = config.transactionTimeoutMs;
  const transactOfTenant = createTransact(
    source(transactionPool, limit("transactions", transactions, { maxOfShare: 1 })),
    { ...inTransactions, limitMs, deadlineMs: Math.min(statement.deadlineMs, limitMs + GRACE_MS) },
  );
  // A transaction of the service itself, such as a migration, may take as long as a statement.
  const transactOwn = createTransact(
    source(ownPool, openGate(1, config.poolWaitMs)),
    { ...inTransactions, limitMs: statement.deadlineMs },
  );
  const listeners = openListeners(open, circuit);
  const streams = openStreams({
    ...{ open, observe, onSettled },
    cache: openStatementCache({ prepare: false }),
    onAbandoned: abandoned.add,
    limitMs: config.exportTimeoutMs,
    graceMs: GRACE_MS,
  });

  function run<R extends Row>(compile: Compile<R>, options: RunOptions): Promise<R[]> {
    const { write, client, tenant, ofPrimary = false } = options;
    return withSession(
      statements,
      (session) => {
        if (ofPrimary && mayStandIn && session.standby) throw rejectStandIn(observe);
        return runStatement(session, compile, { client, tenant, ...statement });
      },
      { mayRepeat: ({ kind }) => kind === "lost" && !write, ...options },
    );
  }

  function transact<R extends Row>(
    steps: readonly (Step | StepGroup)[],
    options: TransactionOptions,
  ) {
    const transact = options.tenant === undefined ? transactOwn : transactOfTenant;
    return transact<R>(steps, options);
  }

  async function listen(channel: string, notified: (payload: string) => void): Promise<void> {
    if (embedded !== undefined || await mode.known) return;
    await listeners.listen(channel, notified);
  }

  async function close(timeoutMs: number): Promise<void> {
    listeners.close();
    seeker.close();
    await Promise.all([...pools, streams].map((each) => each.close(timeoutMs)));
    abandoned.close();
    await embedded?.close();
  }

  const ofStatements = embedded === undefined ? planStatementSettings(config) : {};
  const pipeline = createPipeline(statements, statement);
  const { stream } = streams;
  const primary = { timeline: fence.timeline, see: fence.see, isServing: () => !standsIn };
  return {
    // Each statement makes the settings behind a pooler, and while it is unknown whether there is
    // one.
    get settings() {
      return mode.isPooled() === false ? NO_SETTINGS : ofStatements;
    },
    ...{ run, pipeline, transact, stream, listen, primary, close },
  };
}

const NO_SETTINGS = {};

/** Reports whether a standby may be used if no primary is found. */
function canStandIn({ databaseUrl }: Config): boolean {
  const { addresses, role } = planConnection(databaseUrl ?? "");
  return role === "any" && addresses.length > 1;
}

/** Rejects a statement that a standby must not run; it was not sent. @see M28 */
function rejectStandIn(observe: Observe): DatabaseError {
  observe({ kind: "fault", fault: "unavailable" });
  return new DatabaseError(makeFailure("unavailable", "STANDS_IN"), { write: false });
}

/** Keeps transactions from using statements that a pooler may drop, which would fail them. */
function avoidShared(cache: StatementCache): StatementCache {
  const unprepared = openStatementCache({ prepare: false });
  return {
    ...cache,
    compile: (sql, compile, tenant) =>
      (keepingOf(sql) === "own" ? cache : unprepared).compile(sql, compile, tenant),
  };
}

/**
 * The part of a transaction's time that a wait for a lock may take, so that the client learns of the
 * lock.
 */
const LOCK_PART = 0.75;

/** Returns the configuration of sessions for transactions, whose statements have less time. */
function limitStatements(config: Config): Config {
  const { transactionTimeoutMs: limitMs, statementTimeoutMs, lockTimeoutMs } = config;
  return {
    ...config,
    statementTimeoutMs: Math.min(statementTimeoutMs, limitMs),
    lockTimeoutMs: Math.min(lockTimeoutMs, Math.ceil(LOCK_PART * limitMs)),
  };
}

/** Replaces the pools' sessions after one was lost or did not answer: idle ones may be dead as well. */
function renewAfterLoss(pools: readonly Pool[]): SessionSource["onUsed"] {
  let renewedMs = -Infinity;
  return (failure, session) => {
    if (failure === undefined) return;
    const isLost = failure.kind === "lost" || isSilent(failure);
    if (!isLost && !becameReadOnly(failure, session, renewedMs)) return;
    renewedMs = performance.now();
    for (const pool of pools) pool.renew();
  };
}

/**
 * Reports whether a server accepted writes when the session was opened and no longer does, as after a
 * failover. A server that was always read-only is no reason for new sessions, and neither is a
 * foreign server behind it.
 */
function becameReadOnly({ code }: Failure, session: Session, renewedMs: number): boolean {
  if (code !== READ_ONLY || session.readOnly) return false;
  const pauseMs = session.openedMs > renewedMs ? STILL_READ_ONLY_MS : RENEW_MS;
  return performance.now() - renewedMs > pauseMs;
}

function isSilent({ code }: Failure): boolean {
  return code === DEADLINE || code === TRANSACTION_DEADLINE;
}

/** Observes the gate of a pool under the name of the pool. */
function watchGate(pool: string, observe: Observe): WatchGate {
  return {
    moved: (size, inUse, waiting) => observe({ kind: "pool", pool, size, inUse, waiting }),
    waited: (waitedMs) => observe({ kind: "pool_wait", pool, waitedMs }),
  };
}

/** Runs `select 1`; returns the failure, if any. @see H14 */
export async function probeDatabase(database: Database): Promise<Failure | undefined> {
  try {
    await database.run((sql) => sql`select 1`, { write: false });
    return undefined;
  } catch (error) {
    if (error instanceof DatabaseError) return error;
    throw error;
  }
}
