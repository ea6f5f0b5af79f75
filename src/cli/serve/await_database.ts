import type { Config } from "../../config/config.ts";
import { probeDatabase } from "../../postgres/open_database.ts";
import type { Database } from "../../postgres/database.ts";
import { DatabaseError, type Failure, isTransient } from "../../postgres/database_error.ts";
import { describeFatal } from "../../postgres/fatal.ts";
import type { Observe } from "../../telemetry/observe.ts";
import type { Output } from "../../runtime/host.ts";
import { findSchema } from "../../schema/find_schema.ts";
import { prepareDatabase } from "../prepare_schema.ts";
import { FAILED, stop } from "../stop.ts";
import { readRole } from "../../doctor/role.ts";

const RETRY_MS = 1000;

const NO_PRUNE = "ROWGATE_AUDIT_DAYS: the database role may not delete old rows; " +
  "it needs select and delete on rowgate.audit";

/** What is prepared, and who hears of it. */
export interface AwaitOptions {
  readonly config: Config;
  readonly observe: Observe;
  /** Where progress is shown. */
  readonly output: Output;
}

/**
 * Prepares the database if it is there. When it is away, gives a promise that settles once it came and
 * is prepared: requests get 503 until then.
 * @throws {Stop} when waiting is useless: wrong password, no such database, rights that are missing
 * @see R35
 */
export async function awaitDatabase(
  database: Database,
  options: AwaitOptions,
): Promise<{ readonly coming: Promise<void> } | undefined> {
  const failure = await attempt(database, options);
  if (failure === undefined) return undefined;
  const message = `the database is not there (${failure.code}), waiting for it`;
  options.observe({ kind: "warning", message });
  const coming = keepTrying(database, options);
  // Whoever waits hears of it; before that it must not count as unhandled.
  coming.catch(() => {});
  return { coming };
}

async function keepTrying(database: Database, options: AwaitOptions): Promise<void> {
  do {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  } while (await attempt(database, options) !== undefined);
}

/** Gives the failure for which waiting may help. */
async function attempt(
  database: Database,
  { config, observe, output }: AwaitOptions,
): Promise<Failure | undefined> {
  const failure = await probeDatabase(database);
  if (failure !== undefined) return judge(failure);
  try {
    await prepareDatabase(database, output, config);
    if (config.databaseUrl === undefined) return undefined;
    if (config.audit && config.auditDays !== undefined) {
      if (!(await findSchema(database)).prunesAudit) {
        observe({ kind: "warning", message: NO_PRUNE });
      }
    }
    for (const message of await findRoleWarnings(database, config.schema)) {
      observe({ kind: "warning", message });
    }
    return undefined;
  } catch (error) {
    if (!(error instanceof DatabaseError) || !isTransient(error)) throw error;
    return judge(error);
  }
}

function judge(failure: Failure): Failure {
  const fatal = describeFatal(failure);
  if (fatal === undefined) return failure;
  throw stop(FAILED, `rowgate: ${fatal} (${failure.code})`);
}

/**
 * Gives a warning for each way in which the serving role is above the rights that hold it: superuser,
 * above row level security, owner of tables of the schema.
 * @throws {DatabaseError}
 * @see R38
 */
export async function findRoleWarnings(
  database: Database,
  schema: string,
): Promise<readonly string[]> {
  const role = await readRole(database, { schema, tables: [] });
  const advice = '"rowgate setup --print" shows a role to serve with';
  if (role.superuser) return [`the database role ${role.name} is a superuser; ${advice}`];
  return [
    ...(role.aboveRowSecurity
      ? [`the database role ${role.name} is above row level security; ${advice}`]
      : []),
    ...(role.owned !== null
      ? [`the database role ${role.name} owns tables of the schema ${schema}; ${advice}`]
      : []),
  ];
}
