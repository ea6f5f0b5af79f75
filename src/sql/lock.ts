import type { PendingQuery, Row, Sql } from "../postgres/driver.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { compileWhere } from "./predicate.ts";
import { compileSetConfig, type Setting } from "./setting.ts";
import { compileTable } from "./update.ts";

/**
 * Compiles the lock that comes before a single update in the lane: at most the two rows that decide.
 * @see P16
 */
export function compileLock(sql: Sql, plan: UpdatePlan): PendingQuery<Row[]> {
  return sql`select 1 from ${compileTable(sql, plan)} where ${
    compileWhere(sql, plan)
  } limit 2 for update`;
}

/** Compiles the settings of a whole transaction of the lane. */
export function compileSetStep(sql: Sql, settings: readonly Setting[]): PendingQuery<Row[]> {
  return sql`select ${compileSetConfig(sql, settings)}`;
}
