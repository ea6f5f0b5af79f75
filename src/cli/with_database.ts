import { type CurrentCatalogue, followDatabase } from "../catalogue/current_catalogue.ts";
import { openConfiguredDatabase } from "../database/embedded/embedded_postgres.ts";
import type { Database } from "../database/postgres/database.ts";
import type { Host } from "../server/runtime/host.ts";
import { createLog } from "../server/telemetry/log.ts";
import type { Observe } from "../server/telemetry/observe.ts";
import { readSettings, type Settings } from "./read_settings.ts";
import { explainFailure } from "./stop.ts";

/** The settings, the database that they name, and the sink of what happens. */
export interface OpenedDatabase extends Settings {
  readonly database: Database;
  readonly observe: Observe;
}

const CLOSE_MS = 2000;

/**
 * Opens the database of the settings, does a subcommand's work and closes it.
 * @throws {Stop} for whatever goes wrong, in words for the operator
 */
export async function withDatabase(
  host: Host,
  work: (opened: OpenedDatabase) => Promise<number>,
): Promise<number> {
  const settings = await readSettings(host);
  let warnings = "";
  const observe = createLog("warn", { write: (print) => warnings += print(), human: true });
  try {
    const database = await openConfiguredDatabase(settings.config, observe);
    try {
      const code = await work({ ...settings, database, observe });
      // After a failure, the warnings would only repeat it.
      host.stderr.write(warnings);
      return code;
    } finally {
      await database.close(CLOSE_MS);
    }
  } catch (error) {
    throw explainFailure(error);
  }
}

/** Follows the catalogue of the database as the settings expose it. */
export function followSettings(
  { config, policy, database, observe }: OpenedDatabase,
): CurrentCatalogue {
  const { schemas, tenantColumn, timeZone, tenantSetting = null } = config;
  const options = { schemas, tenantColumn, timeZone, tenantSetting, policy, observe };
  return followDatabase(database, options);
}

/** Follows the catalogue for a subcommand's work. */
export async function withCatalogue<T>(
  opened: OpenedDatabase,
  work: (current: CurrentCatalogue) => Promise<T>,
): Promise<T> {
  const current = followSettings(opened);
  try {
    return await work(current);
  } finally {
    current.close();
  }
}
