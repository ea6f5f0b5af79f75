import type { CurrentCatalogue } from "../catalogue/current_catalogue.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import type { Database } from "../database/postgres/database.ts";
import { startDeadline } from "../server/runtime/timers.ts";

/** How long the success of one probe of the database counts for all others, in milliseconds. */
const GOOD_FOR_MS = 1000;

/** Returns the body of the response to a probe. @throws {DatabaseError} @throws {ApiError} 503 */
export type CheckHealth = (path: "/livez" | "/readyz") => Promise<string>;

/** What the probes check. */
export interface HealthOptions {
  readonly config: { readonly poolWaitMs: number };
  readonly database: Database;
  readonly catalogue: CurrentCatalogue;
  /** Aborted when the server is about to stop. */
  readonly stopping?: AbortSignal;
}

/**
 * Opens the probes. `/livez`: the process responds. `/readyz`: the database responds, the catalogue
 * is loaded, and the server is not about to stop. Probes need no token, so all of them share one
 * statement at a time, and a success counts for a second. A pooler that has lost its database keeps
 * that statement for minutes, so a probe waits no longer than a request would for a session.
 * @see H13, H14, M1
 */
export function openHealth(
  { config, database, catalogue, stopping }: HealthOptions,
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
      await awaitAnswer(found, config.poolWaitMs);
    }
    return `{"success":true}`;
  };
}

function awaitAnswer(found: Promise<void>, waitMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const message = `The database has not answered within ${waitMs} ms`;
    const late = () => reject(new ApiError(503, message));
    const endDeadline = startDeadline({ ms: waitMs, late });
    found.then(resolve, reject).finally(endDeadline);
  });
}
