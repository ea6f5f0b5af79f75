import { type CurrentCatalogue, followDatabase } from "../catalogue/current.ts";
import type { Database } from "../postgres/database.ts";
import type { Observe } from "../telemetry/observe.ts";
import type { Settings } from "./read_settings.ts";

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
