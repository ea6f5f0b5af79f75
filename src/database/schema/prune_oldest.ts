import type { Database } from "../postgres/database.ts";
import type { Fragment, Sql } from "../postgres/driver.ts";

/** A table with a column `at` and an index on it, whose old rows are deleted. */
export interface PrunedTable {
  readonly name: (sql: Sql) => Fragment;
  /** Maximum age of a row, as an interval of Postgres. */
  readonly kept: string;
  /** The number of the advisory lock, so that one server at a time deletes. */
  readonly lock: string;
}

/** Rows that one statement deletes; a few more if several have the same time. */
export const PRUNED_ROWS = 1000;

/**
 * Deletes the oldest rows above the maximum age by the database's clock, at most {@link PRUNED_ROWS},
 * and returns their number. While another server deletes, it deletes none, so that neither waits for
 * the other.
 * @throws {DatabaseError} `permission` when the role may not
 */
export async function pruneOldest(
  database: Database,
  { name, kept, lock }: PrunedTable,
): Promise<number> {
  // The lock is held until the statement has ended.
  const [row] = await database.run<{ deleted: string }>(
    (sql) =>
      sql`with "$deleted" as (
          delete from ${name(sql)}
          where at <= (select max(old.at) from (select at from ${name(sql)}
            where at < now() - ${kept}::text::interval
            order by at limit ${String(PRUNED_ROWS)}::text::int8) old)
            and (select pg_catalog.pg_try_advisory_xact_lock(${lock}::text::int8))
          returning 1
        ) select count(*)::text as deleted from "$deleted"`,
    { write: true },
  );
  return Number(row?.deleted ?? 0);
}
