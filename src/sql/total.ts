import type { QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, Sql } from "../postgres/driver.ts";

/** What the total is counted from. */
export interface TotalParts extends Record<"from" | "limit" | "offset", Fragment> {
  /** Compiles how a column of the page is read. */
  readonly read: (column: Fragment) => Fragment;
}

/**
 * Compiles the total, the rows that match on all pages, of the same snapshot as the page; NULL when
 * the client asked not to count.
 *
 * A page that is not full already reveals the total: the rows before it and those on it. Only a full page,
 * or an empty one behind the first, makes Postgres count: a lazy scalar subquery, which by far beats
 * a window count. Rows that are kept anyway are counted where they are; NULL when they are too many.
 * @see Q85, P21
 * @see docs/decisions/0019-page-and-total.md
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
  // Nothing says how many rows are before a page that starts behind a row.
  if (continued?.after !== undefined) return sql`(select count(*) from ${from})`;
  return read(sql`
    case
      when "$count" < ${limit} and ("$count" > 0 or ${offset} = 0) then ${offset} + "$count"
      else (select count(*) from ${from})
    end`);
}
