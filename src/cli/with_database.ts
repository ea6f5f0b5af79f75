import { openConfiguredDatabase } from "../embedded/embedded_postgres.ts";
import type { Database } from "../postgres/database.ts";
import { createLog } from "../telemetry/log.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Host } from "../runtime/host.ts";
import { readSettings, type Settings } from "./read_settings.ts";
import { explainFailure } from "./stop.ts";
import { type CurrentCatalogue, followDatabase } from "../catalogue/current_catalogue.ts";

/** What a command that works on the database is given. */
export interface Workplace extends Settings {
  readonly database: Database;
  readonly observe: Observe;
}

const CLOSE_MS = 2000;

/**
 * Opens the database of the configuration, does one piece of work and closes it.
 * @throws {Stop} for whatever goes wrong, in a person's words
 */
export async function withDatabase(
  host: Host,
  work: (workplace: Workplace) => Promise<number>,
): Promise<number> {
  const settings = await readSettings(host);
  let warnings = "";
  const observe = createLog("warn", { write: (print) => warnings += print(), human: true });
  try {
    const database = await openConfiguredDatabase(settings.config, observe);
    try {
      const code = await work({ ...settings, database, observe });
      // Of a failure its own line tells.
      host.stderr.write(warnings);
      return code;
    } finally {
      await database.close(CLOSE_MS);
    }
  } catch (error) {
    throw explainFailure(error);
  }
}

/** The settings, the database that they name, and who hears of it. */
export interface Followed extends Settings {
  readonly database: Database;
  readonly observe: Observe;
}

/** Follows the catalogue of the database as the settings expose it. */
export function followSettings(
  { config, policy, database, observe }: Followed,
): CurrentCatalogue {
  const { schema, tenantColumn } = config;
  return followDatabase(database, { schema, tenantColumn, policy, observe });
}

/** Follows it for one piece of work. */
export async function withCatalogue<T>(
  followed: Followed,
  work: (following: CurrentCatalogue) => Promise<T>,
): Promise<T> {
  const following = followSettings(followed);
  try {
    return await work(following);
  } finally {
    following.close();
  }
}
