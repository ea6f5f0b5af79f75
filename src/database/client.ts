import type { Row } from "postgres";
import type { Config } from "../config.ts";
import { ApiError } from "../errors.ts";
import type { Observe } from "../observe.ts";
import { CONNECT_MS, planStatementSettings } from "./connection.ts";
import type { Compile, Database, RunOptions } from "./database.ts";
import { openDriver } from "./driver.ts";
import type { Client } from "./driver.ts";
import type { Embedded } from "./embedded.ts";
import type { Failure } from "./failure.ts";
import { isBroken, nameFault, toApiError } from "./failure.ts";
import { openGate, type WatchGate } from "./gate.ts";
import { openLane } from "./lane.ts";
import { openShapes } from "./shapes.ts";
import type { StatementOptions } from "./statement.ts";
import { CANCELLED_ASTRAY, repeat, runStatement } from "./statement.ts";

/** Beyond Postgres's own timeout, before we take a backend for frozen. */
const GRACE_MS = 3000;
/** SQLSTATE of a session setting that the server can not have. */
const SETTING_REFUSED = "22023";

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
  // PGlite has one session: a second statement would only wait inside of it.
  const poolSize = embedded === undefined ? config.poolSize : 1;
  const statement: StatementOptions = {
    shapes: openShapes(
      undefined,
      (statements) => observe({ kind: "prepared", statements }),
    ),
    connectMs: CONNECT_MS + 1000,
    deadlineMs: config.statementTimeoutMs + GRACE_MS,
  };
  const driver = openDriver(config, embedded);
  const pool = driver.openClient({ max: poolSize, lingerMs: statement.deadlineMs });
  const single = driver.openClient({ max: 1, lingerMs: 0, keep: true });
  const gate = openGate(poolSize, config.poolWaitMs, watchGate("statements", observe));
  const laneGate = openGate(1, config.poolWaitMs, watchGate("transactions", observe));
  const transact = openLane(single, laneGate, { ...statement, observe });
  const tell = observeAvailability(observe);
  let listener: Client | undefined;

  async function run<R extends Row>(
    compile: Compile<R>,
    { write, signal, share }: RunOptions,
  ): Promise<R[]> {
    const leave = await gate.enter({ share, signal });
    if (typeof leave !== "function") {
      observe({ kind: "fault", fault: nameFault(leave) });
      throw toApiError(leave, { write });
    }
    try {
      const outcome = await repeat(
        async () => {
          const sql = pool.sql();
          const outcome = await runStatement(sql, compile, { ...statement, signal });
          if (outcome.failure !== undefined && isBroken(outcome.failure)) pool.renew(sql);
          return outcome;
        },
        (failure) => mayRepeat(failure, write),
        observe,
      );
      tell(outcome.failure);
      if (outcome.failure !== undefined) throw toApiError(outcome.failure, { write });
      return outcome.rows;
    } finally {
      leave();
    }
  }

  function mayRepeat(failure: Failure, write: boolean): boolean {
    if (failure === CANCELLED_ASTRAY) return true;
    if (failure.kind === "lost") return !write;
    if (failure.kind !== "unavailable" || failure.code !== SETTING_REFUSED) return false;
    if (!driver.dropClientCheck()) return false;
    pool.renew(pool.sql());
    single.renew(single.sql());
    return true;
  }

  async function listen(channel: string, notified: () => void): Promise<void> {
    if (embedded !== undefined || !config.prepare) return;
    listener ??= driver.openClient({ max: 1, lingerMs: 0, keep: true });
    // After each later connection something may have been missed.
    let first = true;
    const listening = () => {
      if (!first) notified();
      first = false;
    };
    // Away now, the driver asks again for as long as it takes.
    await listener.sql().listen(channel, notified, listening).catch(() => {
      first = false;
    });
  }

  async function close(timeoutMs: number): Promise<void> {
    const clients = [pool, single, listener].filter((client) => client !== undefined);
    const timeout = timeoutMs / 1000;
    await Promise.all(clients.map((client) => client.sql().end({ timeout }).catch(() => {})));
    await embedded?.close();
  }

  const settings = embedded === undefined ? planStatementSettings(config) : {};
  return { settings, run, transact, listen, close };
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
