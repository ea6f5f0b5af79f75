import type { QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";

/** The parts of a query that the total is counted from. */
export interface TotalParts extends Record<"from" | "limit" | "offset", Fragment> {
  /** Compiles how a column of the page is read. */
  readonly read: (column: Fragment) => Fragment;
}

/**
 * Compiles the total: the number of matching rows on all pages, in the snapshot of the page. NULL if
 * the client asked not to count.
 *
 * A page that is not full already shows the total: the rows before it plus those on it. Only a full
 * page, or an empty one after the first, makes Postgres count, by a lazy scalar subquery, which is
 * far cheaper than a window function. Materialised rows are counted where they are; NULL if there are
 * too many.
 * @see Q85, P21
 * @see docs/decisions/0018-pages.md
 */
export function compileTotal(
  sql: Sql,
  { count, oneReading, continued }: QueryPlan,
  { from, limit, offset, read }: TotalParts,
): Fragment {
  if (!count) return sql`null`;
  if (oneReading) {
    // MAX_ROWS_KEPT, as a constant that the planner knows.
    return sql`(
      select case when count(*) <= 10000 then count(*) end
      from ${from}
    )`;
  }
  // The number of rows before a page is unknown if it starts after a given row.
  if (continued?.after !== undefined) return sql`(select count(*) from ${from})`;
  return read(sql`
    case
      when "$count" < ${limit} and ("$count" > 0 or ${offset} = 0) then ${offset} + "$count"
      else (select count(*) from ${from})
    end`);
}
