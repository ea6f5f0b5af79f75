import type { CurrentCatalogue } from "../catalogue/current_catalogue.ts";
import type { Database } from "../postgres/database.ts";

/** So long what the database answered to one probe is told to all, in milliseconds. */
const GOOD_FOR_MS = 1000;

/** Gives the body of the answer to a probe. @throws {ApiError} 503 when the database does not answer */
export type CheckHealth = (path: "/livez" | "/readyz") => Promise<string>;

/**
 * `/livez`: the process answers. `/readyz`: the database answers and the catalogue is loaded. Anybody
 * may ask, so all share one question to the database at a time, and for a second that all is well.
 * @see H13, H14
 */
export function openHealth(
  { database, catalogue }: { database: Database; catalogue: CurrentCatalogue },
  now: () => number = () => performance.now(),
): CheckHealth {
  let found: Promise<void> | undefined;
  let endMs = 0;

  async function probe(): Promise<void> {
    try {
      await database.run((sql) => sql`select 1`, { write: false });
      await catalogue.current();
      endMs = now() + GOOD_FOR_MS;
    } catch (error) {
      // A database that is back is told at once.
      endMs = 0;
      throw error;
    }
  }

  return async function check(path) {
    if (path === "/readyz") {
      if (found === undefined || now() >= endMs) {
        endMs = Infinity;
        found = probe();
      }
      await found;
    }
    return `{"success":true}`;
  };
}
