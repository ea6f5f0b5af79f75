import type { Sql } from "../postgres/driver.ts";
import type { Compile, Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import { findSchema, type FoundSchema } from "./find_schema.ts";
import { VERSIONS } from "./statements.ts";

/** What became of the schema: as it must be, made so now, or not ours to change. */
export type SchemaState = "current" | "migrated" | "not permitted";

/** What is asked of the schema besides the tokens. */
export interface SchemaNeeds {
  /** True when updates are to leave a row in `rowgate.audit`. */
  readonly audit: boolean;
}

/** Its number is "rowgate" in ASCII. */
const LOCK: Compile = (sql) => sql`select pg_advisory_xact_lock(32210705971246181)::text`;

/**
 * Makes the schema `rowgate` what this version has, under an advisory lock, in one transaction; what
 * is there already is not tried again. "not permitted" only when what is needed is not there: a role
 * that may read the tokens and nothing else serves, also on the schema of an earlier version.
 * @throws {DatabaseError} of any kind but `permission`
 * @see R33
 */
export async function migrateSchema(
  database: Database,
  { audit }: SchemaNeeds = { audit: false },
): Promise<SchemaState> {
  const isEnough = (found: FoundSchema) => found.readsTokens && (!audit || found.writesAudit);
  const found = await findSchema(database);
  const steps = VERSIONS.slice(found.version).flat().map(compile);
  if (steps.length === 0) return isEnough(found) ? "current" : "not permitted";
  try {
    await database.transact([LOCK, ...steps], { rollback: false });
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.kind !== "permission") throw error;
    return isEnough(found) ? "current" : "not permitted";
  }
  return isEnough(await findSchema(database)) ? "migrated" : "not permitted";
}

function compile(text: TemplateStringsArray): Compile {
  return (sql: Sql) => sql(text);
}
