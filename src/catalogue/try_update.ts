import type { Database, Step } from "../postgres/database.ts";
import { DatabaseError, isTransient } from "../postgres/database_error.ts";
import { literal } from "./literal.ts";
import { quoteIdentifier } from "./quote_identifier.ts";

/** What an engine did with an update; unknown where it could not be tried at all, or not for now. */
export type Tried = "updated" | "refused" | "unknown" | "unavailable";

/**
 * SQLSTATEs of an engine that cannot do a thing: a feature that is not supported, a foreign table that
 * does not allow updates, a function of an access method that does not exist.
 */
export const REFUSALS: ReadonlySet<string> = new Set(["0A000", "55000", "XX000"]);

/** A database that cannot be written to, perhaps for good. */
const READ_ONLY = "25006";

/**
 * Updates a row of a temporary table that an access method stores, and undoes it all: some refuse an
 * update only when they come to the row, which no EXPLAIN shows. No table of yours is touched. It is
 * unknown where the role may not create temporary tables, or the access method has none.
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
