import type { Database, Step } from "../database/postgres/database.ts";
import { DatabaseError, isTransient } from "../database/postgres/database_error.ts";
import { READ_ONLY } from "../database/postgres/failure_kind.ts";
import { literal } from "./literal.ts";
import { quoteIdentifier } from "./quote_identifier.ts";

/**
 * What an engine did with an update; `unknown` if it cannot be tried, `unavailable` if it cannot be
 * tried now.
 */
export type Tried = "updated" | "refused" | "unknown" | "unavailable";

/**
 * SQLSTATEs of an engine that does not support a statement: an unsupported feature, a foreign table
 * without updates, a missing function of an access method.
 */
export const REFUSALS: ReadonlySet<string> = new Set(["0A000", "55000", "XX000"]);

/**
 * Updates a row of a temporary table with an access method, and rolls it back: some access methods
 * refuse an update only at the first row, which EXPLAIN does not show. No table of the operator is
 * touched. The result is `unknown` if the role may not create temporary tables, or the access method
 * has none.
 * @see M24
 */
export async function tryUpdate(database: Database, engine: string): Promise<Tried> {
  const method = quoteIdentifier(engine);
  const update: Step = (sql) => sql`update pg_temp.rowgate_engine set n = 2`;
  const steps: Step[] = [
    (sql) =>
      sql`create temporary table rowgate_engine (n pg_catalog.int4) using ${
        literal(sql, method)
      } on commit drop`,
    (sql) => sql`insert into pg_temp.rowgate_engine values (1)`,
    update,
  ];
  let failed: Step | undefined;
  try {
    await database.transact(steps, { rollback: true, onFailure: (step) => failed = step });
    return "updated";
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error;
    if (failed === update && REFUSALS.has(error.code)) return "refused";
    return isTransient(error) && error.code !== READ_ONLY ? "unavailable" : "unknown";
  }
}
