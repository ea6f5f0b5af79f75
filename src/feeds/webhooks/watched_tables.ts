import * as v from "valibot";
import type { Database } from "../../database/postgres/database.ts";

/** Tables of a tenant that have changed. */
export interface ChangedTable {
  readonly schema: string;
  readonly tenant: string;
  readonly table: string;
}

/**
 * Makes the webhooks of a table due that wait for a change. Failed ones keep waiting for their next
 * attempt.
 */
export async function wakeWebhooks(
  database: Database,
  { schema, tenant, table }: ChangedTable,
): Promise<void> {
  await database.run(
    (sql) =>
      sql`update rowgate.webhooks o set woken = true,
          due_at = case when o.lease is null then pg_catalog.clock_timestamp() else o.due_at end
        where o.state = 'enabled' and o.schema_name = ${schema}::text
          and o.tenant = ${tenant}::text and ${table}::text = any(o.tables)
          and o.failed_attempts = 0
          and case when o.lease is null then o.due_at > pg_catalog.clock_timestamp()
            else not o.woken end`,
    { write: true },
  );
}

/** The tables to watch for changes, and the number of webhooks. */
export interface WatchedTables {
  readonly tables: readonly Omit<ChangedTable, "schema">[];
  readonly enabled: number;
  readonly failing: number;
  readonly disabled: number;
}

const watched = v.object({
  tables: v.array(v.object({ tenant: v.string(), table: v.string() })),
  enabled: v.number(),
  failing: v.number(),
  disabled: v.number(),
});

/** Lists the tables that have webhooks, by tenant. */
export async function listWatchedTables(
  database: Database,
  schema: string,
): Promise<WatchedTables> {
  const [row] = await database.run<{ watched: string }>(
    (sql) =>
      sql`with "$w" as materialized (
          select o.tenant, o.tables, o.state, o.failed_attempts
          from rowgate.webhooks o where o.schema_name = ${schema}::text
        ) select pg_catalog.json_build_object(
          'tables', (select coalesce(pg_catalog.json_agg(one), '[]') from (
            select distinct "$w".tenant, "$t"."$table" as "table"
            from "$w", unnest("$w".tables) "$t"("$table") where "$w".state = 'enabled') one),
          'enabled', count(*) filter (where "$w".state = 'enabled'),
          'failing', count(*) filter (where "$w".state = 'enabled' and "$w".failed_attempts > 0),
          'disabled', count(*) filter (where "$w".state = 'disabled'))::text as watched
        from "$w"`,
    { write: false },
  );
  return v.parse(watched, JSON.parse(row?.watched ?? "{}"));
}
