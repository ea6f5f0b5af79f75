import type { QueryPlan } from "../plan/query_plan.ts";
import { dependsOnValues } from "../plan/plan_choice.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";

/**
 * Compiles a condition that is always true, and makes Postgres plan a prepared statement with its
 * values each time, for queries whose best plan depends on them. After five executions Postgres
 * compares the estimated cost of a generic plan with that of the custom ones, and often errs, because
 * it assumes that an unknown range is narrow. Once the values are known, this condition is a
 * constant. In a generic plan it seems to count a million million rows, so that the generic plan is
 * always more expensive. Nothing is ever counted.
 *
 * `plan_cache_mode` is no alternative: it acts on the session, which a pooler shares with others, and
 * a statement cannot set it for itself, since it is planned first.
 * @see P32
 * @see docs/decisions/0021-query-plans.md
 */
export function compilePlanCondition(sql: Sql, plan: QueryPlan): Fragment | undefined {
  if (!dependsOnValues(plan)) return undefined;
  return sql`
    case
      when ${"custom"}::text = 'custom' then true
      else (select count(*) = 0 from pg_catalog.generate_series(1, 1000000000000))
    end`;
}

/**
 * Hides the limit of a first page from the planner, which then assumes a tenth of the rows. If the
 * planner knows that 50 rows are wanted, it scans an index in the order of the page and expects to
 * find them soon. If they are all at its end, or there are fewer, it reads the whole table. For a later
 * page the offset shows that the scan is long. A page that starts after a given row counts as a first
 * page.
 */
export function compileFirstLimit(sql: Sql, plan: QueryPlan, limit: Fragment): Fragment {
  const isFirst = plan.page === 1 || plan.continued?.after !== undefined;
  return isFirst && dependsOnValues(plan) ? sql`(select ${limit})` : limit;
}
