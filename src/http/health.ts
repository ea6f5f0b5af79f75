import type { CurrentCatalogue } from "../catalogue/current_catalogue.ts";
import { ApiError } from "../errors/api_error.ts";
import type { Database } from "../postgres/database.ts";

/** How long the success of one probe of the database counts for all others, in milliseconds. */
const GOOD_FOR_MS = 1000;

/** Returns the body of the response to a probe. @throws {DatabaseError} @throws {ApiError} 503 */
export type CheckHealth = (path: "/livez" | "/readyz") => Promise<string>;

/** What the probes check. */
export interface HealthOptions {
  readonly database: Database;
  readonly catalogue: CurrentCatalogue;
  /** Aborted when the server is about to stop. */
  readonly stopping?: AbortSignal;
}

/**
 * Opens the probes. `/livez`: the process responds. `/readyz`: the database responds, the catalogue
 * is loaded, and the server is not about to stop. Probes need no token, so all of them share one
 * statement at a time, and a success counts for a second.
 * @see H13, H14, M1
 */
export function openHealth(
  { database, catalogue, stopping }: HealthOptions,
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
      // A failure is not cached, so the next probe notices a database that is back.
      endMs = 0;
      throw error;
    }
  }

  return async function check(path) {
    if (path === "/readyz") {
      if (stopping?.aborted) throw new ApiError(503, "The server is about to stop");
      if (found === undefined || now() >= endMs) {
        endMs = Infinity;
        found = probe();
      }
      await found;
    }
    return `{"success":true}`;
  };
}
