import { describeSchemas } from "../doctor/diagnosis.ts";
import type { Config } from "../../server/config/config.ts";
import { readRole } from "../doctor/role.ts";
import type { Database } from "../../database/postgres/database.ts";
import {
  DatabaseError,
  describeFatal,
  type Failure,
  isTransient,
} from "../../database/postgres/database_error.ts";
import { probeDatabase } from "../../database/postgres/open_database.ts";
import type { Output } from "../../server/runtime/host.ts";
import { findSchema } from "../../database/schema/find_schema.ts";
import type { Observe } from "../../server/telemetry/observe.ts";
import { prepareSchema } from "../prepare_schema.ts";
import { FAILED, stop } from "../stop.ts";

const RETRY_MS = 1000;

/** What the database is prepared for, and where progress is shown. */
export interface AwaitOptions {
  readonly config: Config;
  readonly observe: Observe;
  readonly output: Output;
  /** Aborted when the service closes: the service stops waiting for the database. */
  readonly closing: AbortSignal;
}

/**
 * Prepares the database if it is available. If not, gives a promise that settles once it is available
 * and prepared: requests get 503 until then.
 * @throws {Stop} when waiting is useless: wrong password, no such database, missing rights
 * @see R35
 */
export async function prepareOrAwaitDatabase(
  database: Database,
  options: AwaitOptions,
): Promise<{ readonly databaseReady: Promise<void> } | undefined> {
  const failure = await tryToPrepare(database, options);
  if (failure === undefined) return undefined;
  if (!options.closing.aborted) {
    const message = `the database is unavailable (${failure.code}), waiting for it`;
    options.observe({ kind: "warning", message });
  }
  const databaseReady = keepTrying(database, options);
  // The caller awaits it later; until then a rejection must not count as unhandled.
  databaseReady.catch(() => {});
  return { databaseReady };
}

async function keepTrying(database: Database, options: AwaitOptions): Promise<void> {
  do {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  } while (!options.closing.aborted && await tryToPrepare(database, options) !== undefined);
}

/** Returns the failure, if it is one that may pass. */
async function tryToPrepare(
  database: Database,
  { config, observe, output }: AwaitOptions,
): Promise<Failure | undefined> {
  const failure = await probeDatabase(database);
  if (failure !== undefined) return throwIfFatal(failure);
  try {
    await checkTimeZone(database, config);
    const needs = { audit: config.audit, webhooks: config.webhookHosts.length > 0 };
    await prepareSchema(database, output, needs);
    if (config.databaseUrl === undefined) return undefined;
    for (const message of await findWarnings(database, config)) {
      observe({ kind: "warning", message });
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isTransient(error)) throw error;
    return throwIfFatal(error);
  }
}

/** SQLSTATE of a setting that cannot have the value. */
const INVALID_SETTING = "22023";

/** @throws {Stop} when the database does not know `ROWGATE_TIME_ZONE`; `DatabaseError` */
async function checkTimeZone(database: Database, { timeZone }: Config): Promise<void> {
  if (timeZone === undefined) return;
  try {
    await database.run(
      (sql) => sql`select pg_catalog.set_config('TimeZone', ${timeZone}::text, true)`,
      { write: false },
    );
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== INVALID_SETTING) throw error;
    const known = "a name that it lists with: select name from pg_timezone_names";
    throw stop(
      FAILED,
      `rowgate: ROWGATE_TIME_ZONE: the database does not know the time zone "${timeZone}", ` +
        `expected ${known}`,
    );
  }
}

function throwIfFatal(failure: Failure): Failure {
  const fatal = describeFatal(failure);
  if (fatal === undefined) return failure;
  throw stop(FAILED, `rowgate: ${fatal} (${failure.code})`);
}

/**
 * Returns a warning for each excessive right of the serving role, which lets it bypass grants or
 * policies, and for missing rights to delete old audit records or to seal page tokens.
 * @see R38
 */
async function findWarnings(database: Database, config: Config): Promise<readonly string[]> {
  const warnings: string[] = [];
  const { prunesAudit, readsSecrets } = await findSchema(database);
  if (config.audit && config.auditDays !== undefined && !prunesAudit) {
    warnings.push(
      "ROWGATE_AUDIT_DAYS: the database role may not delete old records; " +
        "it needs SELECT and DELETE on rowgate.audit",
    );
  }
  if (!readsSecrets) {
    warnings.push(
      "there are no page tokens, because the database role may not read rowgate.secrets; " +
        'run "rowgate setup" as the owner of the database',
    );
  }
  const { name, ...role } = await readRole(database, { schemas: config.schemas, tables: [] });
  const faults = role.superuser ? ["is a superuser"] : [
    ...(role.bypassesRowSecurity ? ["bypasses row level security"] : []),
    ...(role.owned !== null ? [`owns tables of the ${describeSchemas(config.schemas)}`] : []),
  ];
  const advice = '"rowgate setup --print" shows a role to serve with';
  return [...warnings, ...faults.map((fault) => `the database role ${name} ${fault}; ${advice}`)];
}
