import postgres from "postgres";
import { readConfig } from "../../src/server/config/config.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import type { Database } from "../../src/database/postgres/database.ts";
import { migrateSchema } from "../../src/database/schema/migrate_schema.ts";

/** What the serving role of the tests is granted on the schema `rowgate`. */
const GRANTS = `
  grant usage on schema rowgate to rowgate_app;
  grant select on rowgate.tokens, rowgate.secrets, rowgate.changes, rowgate.feeds to rowgate_app;
  grant execute on function rowgate.changes_moment(), rowgate.changes_shape(int4, oid),
    rowgate.prune_changes(float8, int4) to rowgate_app;
  grant execute on function rowgate.lease_rates(json, float8, float8),
    rowgate.prune_rates(float8, int4) to rowgate_app;
  grant insert on rowgate.audit to rowgate_app;
  grant select, insert, delete on rowgate.idempotency_keys to rowgate_app;
  grant select, insert, update, delete on rowgate.webhooks to rowgate_app`;

/** Makes the schema `rowgate` in a database of a cluster, with all that the serving role needs of it. */
export async function addSchema(url: string): Promise<void> {
  const owner = openAsOwner(url);
  await migrateSchema(owner);
  await owner.close(1000);
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(GRANTS);
  await sql.end();
}

/** Opens a database as its owner, with one session. */
export function openAsOwner(url: string): Database {
  const { config, problems } = readConfig({ DATABASE_URL: url, ROWGATE_POOL_SIZE: "1" });
  if (config === undefined) throw new Error(problems.join("\n"));
  return openDatabase(config, () => {});
}
