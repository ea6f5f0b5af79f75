import type { CurrentCatalogue } from "../catalogue/current.ts";
import type { Database } from "../database/database.ts";

/**
 * `/livez`: the process answers. `/readyz`: the database answers and the catalogue is loaded.
 * @throws {ApiError} 503 when the database does not answer
 * @see DECISIONS 8
 */
export async function checkHealth(
  path: "/livez" | "/readyz",
  { database, catalogue }: { database: Database; catalogue: CurrentCatalogue },
): Promise<string> {
  if (path === "/readyz") {
    await database.run((sql) => sql`select 1`, { write: false });
    await catalogue.current();
  }
  return `{"success":true}`;
}
