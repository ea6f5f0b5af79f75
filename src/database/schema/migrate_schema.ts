import type { Sql } from "../postgres/driver.ts";
import type { Compile, Database } from "../postgres/database.ts";
import { DatabaseError } from "../postgres/database_error.ts";
import { findSchema, type FoundSchema } from "./find_schema.ts";
import { OWN_PATH, type Statement } from "./statement.ts";
import { VERSIONS } from "./statements.ts";

/** The schema was ready, was migrated now, or lacks something that the role may not create. */
export type SchemaState = "current" | "migrated" | "not permitted";

/** The features that need the schema, besides tokens. */
export interface SchemaNeeds {
  /** True if updates are recorded in `rowgate.audit`. */
  readonly audit: boolean;
  /** True when webhooks are on. */
  readonly webhooks?: boolean;
}

/**
 * The number of the lock is "rowgate" in ASCII. Many instances that start at a time wait for one
 * migration after the other, which may take longer than a request waits for a row.
 */
const LOCK: Compile = (sql) =>
  sql`select pg_catalog.set_config('lock_timeout', '60s', true),
    pg_advisory_xact_lock(32210705971246181)::text`;

/**
 * Creates the schema `rowgate`, or migrates it to this version, in one transaction under an advisory
 * lock. The result is "not permitted" only if something necessary is missing: a role that may only
 * read tokens can serve, even on a schema of an earlier version.
 * @throws {DatabaseError} of any kind but `permission`
 * @see R33
 */
export async function migrateSchema(
  database: Database,
  { audit, webhooks = false }: SchemaNeeds = { audit: false },
): Promise<SchemaState> {
  const isEnough = (found: FoundSchema) =>
    found.readsTokens && (!audit || found.writesAudit) && (!webhooks || found.keepsWebhooks);
  const found = await findSchema(database);
  const steps = VERSIONS.slice(found.version).flat().map(compile);
  if (steps.length === 0) return isEnough(found) ? "current" : "not permitted";
  try {
    await database.transact([compile(OWN_PATH), LOCK, ...steps], { rollback: false });
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.kind !== "permission") throw error;
    return isEnough(found) ? "current" : "not permitted";
  }
  return isEnough(await findSchema(database)) ? "migrated" : "not permitted";
}

function compile(text: Statement): Compile {
  return (sql: Sql) => sql(text);
}
