import type { Database } from "../database/postgres/database.ts";
import type { Output } from "../server/runtime/host.ts";
import { migrateSchema, type SchemaNeeds } from "../database/schema/migrate_schema.ts";
import { CHANGES_FUNCTIONS } from "../database/schema/changes_statements.ts";
import { RATES_FUNCTIONS } from "../database/schema/rates_statements.ts";
import { printTransaction } from "../database/schema/statement.ts";
import { SCHEMA_STATEMENTS } from "../database/schema/statements.ts";
import { showWork } from "./progress.ts";
import { FAILED, stop } from "./stop.ts";

/**
 * Creates or migrates the schema `rowgate`, where that is needed and the role may. Progress is shown
 * on `output`, as when another process does the same and holds the lock.
 * @returns true when the schema was created or migrated now
 * @throws {Stop} with the statements to run when the role lacks a right that it needs
 * @throws {DatabaseError}
 * @see R33, R34
 */
export async function prepareSchema(
  database: Database,
  output: Output,
  needs: SchemaNeeds = { audit: false },
): Promise<boolean> {
  const state = await showWork(
    output,
    "Preparing the schema rowgate",
    () => migrateSchema(database, needs),
  );
  if (state !== "not permitted") return state === "migrated";
  const role = await findRole(database);
  throw stop(
    FAILED,
    "rowgate: the schema rowgate is not ready, and this database role may not prepare it.",
    'Let the owner of the database run: rowgate setup --print | psql "$OWNER_URL"',
    "This creates the schema and a role to serve with. For the present role:",
    "",
    ...[printTransaction([...SCHEMA_STATEMENTS, ...describeGrants(role, needs)]).trimEnd()],
  );
}

/** Returns the statements that grant a role, quoted already, what serving needs in the schema. */
export function describeGrants(role: string, { audit, webhooks }: SchemaNeeds): readonly string[] {
  return [
    `grant usage on schema rowgate to ${role};`,
    `grant select on rowgate.tokens, rowgate.secrets, rowgate.changes, rowgate.feeds to ${role};`,
    `grant execute on function ${CHANGES_FUNCTIONS.join(", ")} to ${role};`,
    `grant select, insert, delete on rowgate.idempotency_keys to ${role};`,
    `grant execute on function ${RATES_FUNCTIONS.join(", ")} to ${role};`,
    ...(audit ? [`grant insert on rowgate.audit to ${role};`] : []),
    ...(webhooks ? [`grant select, insert, update, delete on rowgate.webhooks to ${role};`] : []),
  ];
}

async function findRole(database: Database): Promise<string> {
  const [found] = await database.run<{ role: string }>(
    (sql) => sql`select pg_catalog.quote_ident(current_user) as role`,
    { write: false },
  );
  return found?.role ?? "";
}
