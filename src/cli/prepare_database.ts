import type { Database } from "../database/database.ts";
import type { Output } from "../runtime/host.ts";
import { migrateSchema, SCHEMA_STATEMENTS } from "../tokens/schema.ts";
import { showWork } from "./show_work.ts";
import { FAILED, stop } from "./stop.ts";

/**
 * Makes the schema `rowgate` where that is needed and allowed; on `output` it shows when that takes
 * long, as behind another process that does the same.
 * @returns true when it was made now
 * @throws {Stop} with the statements to run when the role may not make it
 * @throws {ApiError} as the database rejects
 * @see DECISIONS 9
 */
export async function prepareDatabase(database: Database, output: Output): Promise<boolean> {
  const state = await showWork(
    output,
    "Making the schema rowgate ready",
    () => migrateSchema(database),
  );
  if (state !== "not permitted") return state === "migrated";
  throw stop(
    FAILED,
    "rowgate: the schema rowgate is not ready and this database role may not make it.",
    'Let the owner of the database run it: rowgate setup --print | psql "$OWNER_URL"',
    "That makes the schema and a role to serve with. The schema alone is:",
    "",
    ...SCHEMA_STATEMENTS.map((text) => `${text};`),
  );
}
