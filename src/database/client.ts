import postgres from "postgres";
import type { Options, PostgresType, Row, Sql } from "postgres";
import type { Config } from "../config.ts";
import { ApiError } from "../errors.ts";
import type { Observe } from "../observe.ts";
import { CONNECT_MS, planConnection, planSettings } from "./connection.ts";
import type { DriverOptions } from "./connection.ts";
import type { Compile, Database, RunOptions } from "./database.ts";
import type { Embedded } from "./embedded.ts";
import type { Failure } from "./failure.ts";
import { DEADLINE, toApiError } from "./failure.ts";
import { openGate } from "./gate.ts";
import { openLane } from "./lane.ts";
import { openShapes } from "./shapes.ts";
import type { StatementOptions } from "./statement.ts";
import { repeat, runStatement } from "./statement.ts";

/** Beyond Postgres's own timeout, before we take a backend for frozen. */
const GRACE_MS = 3000;

/** What openDatabase can be given besides the configuration. */
export interface OpenOptions {
  /** An embedded Postgres that is open already; closed with the database all the same. */
  readonly embedded?: Embedded;
}

/**
 * Opens the database of the configuration: the operator's Postgres, which need not be there yet, or
 * the embedded one.
 * @throws {Error} when DATABASE_URL can not be read, or the data directory is in use
 * @see DECISIONS 9
 */
export async function openDatabase(
  config: Config,
  observe: Observe,
  options: OpenOptions = {},
): Promise<Database> {
  const embedded = options.embedded ??
    (config.databaseUrl === undefined
      ? await (await import("./embedded.ts")).openEmbedded({ dataDir: config.dataDir })
      : undefined);
  const driver = planDriver(config, embedded);
  // PGlite has one session: a second statement would only wait inside of it.
  const poolSize = embedded === undefined ? config.poolSize : 1;
  const gate = openGate(poolSize, config.poolWaitMs);
  const statement: StatementOptions = {
    shapes: openShapes(),
    connectMs: CONNECT_MS + 1000,
    deadlineMs: config.statementTimeoutMs + GRACE_MS,
  };
  const tell = observeAvailability(observe);
  const pool = openClient({ ...driver, max: poolSize }, statement.deadlineMs);
  const single = openClient({ ...driver, max: 1, idle_timeout: undefined, max_lifetime: null }, 0);
  const transact = openLane(single, openGate(1, config.poolWaitMs), statement);
  let listener: Sql | undefined;

  async function run<R extends Row>(
    compile: Compile<R>,
    { write, signal }: RunOptions,
  ): Promise<R[]> {
    const leave = await gate.enter(signal);
    if (typeof leave !== "function") throw toApiError(leave, { write });
    try {
      const outcome = await repeat(async () => {
        const outcome = await runStatement(pool.sql(), compile, { ...statement, signal });
        if (outcome.failure?.code === DEADLINE) pool.renew();
        return outcome;
      }, (failure) => failure.kind === "lost" && !write);
      tell(outcome.failure);
      if (outcome.failure !== undefined) throw toApiError(outcome.failure, { write });
      return outcome.rows;
    } finally {
      leave();
    }
  }

  async function listen(channel: string, notified: () => void): Promise<void> {
    if (embedded !== undefined || !config.prepare) return;
    listener ??= connect({ ...driver, max: 1, idle_timeout: undefined, max_lifetime: null });
    // Away now, the driver asks again whenever it has a connection.
    await listener.listen(channel, notified, notified).catch(() => {});
  }

  async function close(timeoutMs: number): Promise<void> {
    const timeout = timeoutMs / 1000;
    const clients = [pool.sql(), single.sql(), ...(listener === undefined ? [] : [listener])];
    await Promise.all(clients.map((sql) => sql.end({ timeout }).catch(() => {})));
    await embedded?.close();
  }

  return { run, transact, listen, close };
}

/**
 * Asks the database for a sign of life; gives the failure when there is none.
 * @see DECISIONS 8
 */
export async function probeDatabase(database: Database): Promise<Failure | undefined> {
  try {
    await database.run((sql) => sql`select 1`, { write: false });
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error.cause as Failure;
    throw error;
  }
}

/** Opens a plain client on an embedded Postgres, for what prepares it: demonstration and tests. */
export function connectEmbedded(embedded: Embedded): Sql {
  return connect(planEmbedded(embedded));
}

function connect(options: DriverOptions): Sql {
  return postgres(options as Options<Record<string, PostgresType>>) as Sql;
}

/** A client of the driver that can be replaced by a fresh one. */
interface Client {
  readonly sql: () => Sql;
  readonly closes: () => number;
  readonly renew: () => void;
}

/** What runs on a client that is replaced may go on for `lingerMs`. */
function openClient(options: DriverOptions, lingerMs: number): Client {
  let closes = 0;
  const open = () => connect({ ...options, onclose: () => closes++ });
  let sql = open();
  return {
    sql: () => sql,
    closes: () => closes,
    renew() {
      closes++;
      sql.end({ timeout: lingerMs / 1000 }).catch(() => {});
      sql = open();
    },
  };
}

function planDriver(config: Config, embedded: Embedded | undefined): DriverOptions {
  if (embedded !== undefined) return { ...planEmbedded(embedded), prepare: config.prepare };
  return {
    ...COMMON_OPTIONS,
    ...planConnection(config.databaseUrl ?? ""),
    prepare: config.prepare,
    idle_timeout: 60,
    max_lifetime: 1800,
    connect_timeout: CONNECT_MS / 1000,
    keep_alive: 30,
    connection: planSettings(config, { checkClient: true }),
  };
}

function planEmbedded(embedded: Embedded): DriverOptions {
  return {
    ...COMMON_OPTIONS,
    socket: embedded.connect,
    host: "embedded",
    port: 0,
    user: "postgres",
    database: "postgres",
    password: "",
    ssl: false,
    max: 1,
    idle_timeout: undefined,
    max_lifetime: null,
    connection: { application_name: "rowgate" },
  };
}

const COMMON_OPTIONS: DriverOptions = {
  // Fast statements would queue behind slow ones on one connection. @see RELIABILITY 0.4
  max_pipeline: 0,
  fetch_types: false,
  no_subscribe: true,
  backoff: (attempt: number) => Math.min(0.1 * 2 ** attempt, 2),
  onnotice: () => {},
  debug: false,
};

/** Tells when the database goes away and when it is back, once each. */
function observeAvailability(observe: Observe): (failure: Failure | undefined) => void {
  let away = false;
  return (failure) => {
    const gone = failure?.kind === "unavailable" || failure?.kind === "lost";
    if (gone === away) return;
    away = gone;
    const message = gone
      ? `the database is not available (${failure?.code})`
      : "the database is available again";
    observe({ kind: "warning", message });
  };
}
