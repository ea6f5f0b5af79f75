import type { Database } from "../postgres/database.ts";
import type { Output } from "../runtime/host.ts";
import { migrateSchema, type SchemaNeeds } from "../schema/migrate_schema.ts";
import { SCHEMA_STATEMENTS } from "../schema/statements.ts";
import { showWork } from "./progress.ts";
import { FAILED, stop } from "./stop.ts";

/**
 * Makes the schema `rowgate` where that is needed and allowed; on `output` it shows when that takes
 * long, as behind another process that does the same.
 * @returns true when it was made now
 * @throws {Stop} with the statements to run when the role may not make it, or may not do in it what
 * is needed
 * @throws {DatabaseError}
 * @see R33, R34
 */
export async function prepareDatabase(
  database: Database,
  output: Output,
  needs: SchemaNeeds = { audit: false },
): Promise<boolean> {
  const state = await showWork(
    output,
    "Making the schema rowgate ready",
    () => migrateSchema(database, needs),
  );
  if (state !== "not permitted") return state === "migrated";
  const role = await findRole(database);
  throw stop(
    FAILED,
    "rowgate: the schema rowgate is not ready and this database role may not make it so.",
    'Let the owner of the database run it: rowgate setup --print | psql "$OWNER_URL"',
    "That makes the schema and a role to serve with. For this role alone:",
    "",
    ...SCHEMA_STATEMENTS.map((text) => `${text};`),
    ...describeGrants(role, needs),
  );
}

/** Gives the statements that let a role, quoted already, serve. */
export function describeGrants(role: string, { audit }: SchemaNeeds): readonly string[] {
  return [
    `grant usage on schema rowgate to ${role};`,
    `grant select on rowgate.tokens to ${role};`,
    ...(audit ? [`grant insert on rowgate.audit to ${role};`] : []),
  ];
}

async function findRole(database: Database): Promise<string> {
  const [found] = await database.run<{ role: string }>(
    (sql) => sql`select pg_catalog.quote_ident(current_user) as role`,
    { write: false },
  );
  return found?.role ?? "";
}
