import type { Database } from "../database/database.ts";
import { migrateSchema, SCHEMA_STATEMENTS } from "../tokens/schema.ts";
import { FAILED, stop } from "./stop.ts";

/**
 * Makes the schema `rowgate` where that is needed and allowed.
 * @returns true when it was made now
 * @throws {Stop} with the statements to run when the role may not make it
 * @throws {ApiError} as the database rejects
 * @see DECISIONS 9
 */
export async function prepareDatabase(database: Database): Promise<boolean> {
  const state = await migrateSchema(database);
  if (state !== "not permitted") return state === "migrated";
  throw stop(
    FAILED,
    "rowgate: the schema rowgate is not ready and this database role may not make it.",
    "As the owner of the database, run these statements and grant the role what",
    '"rowgate setup --print" shows:',
    "",
    ...SCHEMA_STATEMENTS.map((text) => `${text};`),
  );
}
