import type { Config } from "../config/config.ts";
import { probeDatabase } from "../postgres/open_database.ts";
import type { Database } from "../postgres/database.ts";
import type { Failure } from "../postgres/failure.ts";
import { describeFatal } from "../postgres/fatal.ts";
import { ApiError } from "../errors/api_error.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Output } from "../runtime/host.ts";
import { findSchema } from "../schema/find_schema.ts";
import { prepareDatabase } from "./prepare_database.ts";
import { findRoleWarnings } from "./role_warnings.ts";
import { FAILED, isStop, stop } from "./stop.ts";

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
    if (isStop(error) || !(error instanceof ApiError)) throw error;
    if (error.status !== 503 && error.status !== 504) throw error;
    return judge(error.cause as Failure);
  }
}

function judge(failure: Failure): Failure {
  const fatal = describeFatal(failure);
  if (fatal === undefined) return failure;
  throw stop(FAILED, `rowgate: ${fatal} (${failure.code})`);
}
