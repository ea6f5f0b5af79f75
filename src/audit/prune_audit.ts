import type { Database } from "../postgres/database.ts";

/** Rows that one statement deletes, or a few more that are of the same microsecond. */
export const PRUNE_ROWS = 1000;

/**
 * Deletes the oldest rows of the audit that are older than so many days by the database's clock, at
 * most `PRUNE_ROWS`; gives how many. Deletes none while another instance does, so that nobody waits.
 * @throws {ApiError} 403 the role may not; others as the database rejects
 * @see docs/decisions/0140-audit.md
 */
export async function pruneAudit(database: Database, days: number): Promise<number> {
  // The lock's number is "audit" in ASCII; it is held until the statement has ended.
  const [row] = await database.run<{ deleted: string }>(
    (sql) =>
      sql`with "$d" as (
          delete from rowgate.audit
          where at <= (select max(old.at) from (select at from rowgate.audit
            where at < now() - ${String(days)}::text::float8 * interval '1 day'
            order by at limit ${String(PRUNE_ROWS)}::text::int8) old)
            and (select pg_catalog.pg_try_advisory_xact_lock(418581342580))
          returning 1
        ) select count(*)::text as deleted from "$d"`,
    { write: true },
  );
  return Number(row?.deleted ?? 0);
}
