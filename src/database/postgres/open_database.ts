import type { Config } from "../../server/config/config.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { Abandoned } from "./abandoned.ts";
import { openCircuit } from "./circuit.ts";
import { type Address, planConnection } from "./connection.ts";
import type { Compile, Database, RunOptions } from "./database.ts";
import { DatabaseError, type Failure, makeFailure } from "./database_error.ts";
import type { Row } from "./driver.ts";
import type { Session } from "./session.ts";
import type { Fence } from "./fence.ts";
import { Primary } from "./primary.ts";
import { keepingOf, openPoolerMode, type PoolerMode } from "./pooler.ts";
import { Listeners } from "./listener.ts";
import { createSessionOpener, type EmbeddedServer, type OpenerOptions } from "./session_opener.ts";
import { createPipeline } from "./pipeline.ts";
import { openPools, type Pools } from "./pools.ts";
import { runStatement, type StatementOptions } from "./statement.ts";
import { Statements } from "./statements.ts";
import { openStreams } from "./stream.ts";
import { createTransact } from "./transaction.ts";
import { observeAvailability, type SessionSource, withSession } from "./with_session.ts";

/** Time after Postgres's own timeout until the backend of a statement counts as frozen. */
const GRACE_MS = 3000;

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
  const isEmbedded = embedded !== undefined;
  const mayStandIn = !isEmbedded && only === undefined && canStandIn(config);
  const mode = openPoolerMode(config.prepare);
  const primary = new Primary(config, {
    ...{ mode, mayStandIn, observe },
    followsHosts: !isEmbedded && only === undefined,
    onNewPrimary() {
      pools.renew();
      listeners.renew();
    },
  });
  const opening = planOpening(primary, mode, { embedded, only });
  const open = createSessionOpener(config, opening);
  const circuit = openCircuit();
  const abandoned = new Abandoned({ open, observe });
  const onAbandoned = (session: Session) => abandoned.add(session);
  const onSettled = observeAvailability(observe);
  const cache = new Statements({
    prepare: config.prepare !== false,
    shared: isEmbedded,
    onChange: (statements) => observe({ kind: "prepared", statements }),
  });
  const pools = openPools(config, {
    ...{ open, circuit, isEmbedded, observe, onSettled },
    openForTransactions: createSessionOpener(limitStatements(config), opening),
    onAbandoned,
  });

  const statement: StatementOptions = {
    cache,
    deadlineMs: config.statementTimeoutMs + GRACE_MS,
  };
  const listeners = new Listeners(open, circuit);
  const streams = openStreams({
    ...{ open, observe, onSettled },
    cache: new Statements({ prepare: false }),
    onAbandoned,
    limitMs: config.exportTimeoutMs,
    graceMs: GRACE_MS,
  });

  async function listen(channel: string, notified: (payload: string) => void): Promise<void> {
    if (isEmbedded || await mode.known) return;
    await listeners.listen(channel, notified);
  }

  async function close(timeoutMs: number): Promise<void> {
    listeners.close();
    primary.close();
    await Promise.all([pools, streams].map((each) => each.close(timeoutMs)));
    abandoned.close();
    await embedded?.close();
  }

  return {
    run: createRun(pools.statements, { ...statement, refusesStandIn: mayStandIn }),
    pipeline: createPipeline(pools.statements, statement),
    transact: createTransactions(config, pools, statement),
    stream: streams.stream,
    listen,
    primary,
    close,
  };
}

/** Plans where sessions are opened: on the hosts of the URL, or on one server. */
function planOpening(
  primary: Primary,
  mode: PoolerMode,
  { embedded, only }: OpenOptions,
): OpenerOptions {
  if (only !== undefined) return { embedded, mode, refuse: only.refuse, only: only.address };
  return {
    embedded,
    mode,
    refuse: (server) => primary.refuse(server),
    onStandIn: () => primary.standIn(),
    ready: () => primary.ready(),
  };
}

/** Makes the function that runs one statement. */
function createRun(
  source: SessionSource,
  { refusesStandIn, ...statement }: StatementOptions & {
    /** True: a standby that stands in for the primary runs nothing that must read current data. */
    readonly refusesStandIn: boolean;
  },
): Database["run"] {
  return function run<R extends Row>(compile: Compile<R>, options: RunOptions): Promise<R[]> {
    const { client, tenant, ofPrimary = false } = options;
    return withSession(
      source,
      (session) => {
        if (ofPrimary && refusesStandIn && session.standby) throw rejectStandIn(source.observe);
        return runStatement(session, compile, { client, tenant, ...statement });
      },
      options,
    );
  };
}

/**
 * Makes the function that runs transactions. Those of the service itself, such as a migration, may take
 * as long as a statement.
 */
function createTransactions(
  config: Config,
  { transactions, own }: Pools,
  statement: StatementOptions,
): Database["transact"] {
  const inTransactions = { ...statement, cache: avoidShared(statement.cache) };
  const limitMs = config.transactionTimeoutMs;
  const transactOfTenant = createTransact(transactions, {
    ...inTransactions,
    limitMs,
    deadlineMs: Math.min(statement.deadlineMs, limitMs + GRACE_MS),
  });
  const transactOwn = createTransact(own, { ...inTransactions, limitMs: statement.deadlineMs });
  return (steps, options) =>
    options.tenant === undefined ? transactOwn(steps, options) : transactOfTenant(steps, options);
}

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
function avoidShared(cache: Pick<Statements, "compile">): Pick<Statements, "compile"> {
  const unprepared = new Statements({ prepare: false });
  return {
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
