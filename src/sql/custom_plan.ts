import type { QueryPlan } from "../plan/query_plan.ts";
import { dependsOnValues } from "../plan/plan_choice.ts";
import type { Fragment, Sql } from "../postgres/driver.ts";

/**
 * Compiles a condition that is always true, and makes Postgres plan a prepared statement with its values
 * each time, where the best plan depends on them. After five executions Postgres compares the estimated
 * cost of a plan without values with that of the plans that it made, and often errs: it takes an unknown
 * range for a narrow one. This condition is a constant once the values are known. Without them it seems
 * to count a million million rows, so that no plan is more expensive. Nothing is ever counted.
 *
 * `plan_cache_mode` would act on the session, which behind a pooler is anybody's, and a statement cannot
 * set it for itself, since it is planned first.
 * @see P32
 * @see docs/decisions/0021-query-plans.md
 */
export function compilePlanCondition(sql: Sql, plan: QueryPlan): Fragment | undefined {
  if (!dependsOnValues(plan)) return undefined;
  return sql`
    case ${"custom"}::text
      when 'custom' then true
      else (select count(*) = 0 from pg_catalog.generate_series(1, 1000000000000))
    end`;
}

/**
 * Compiles the limit of a first page so that Postgres does not know it, and takes it for a tenth of the
 * rows. Where it knows that 50 rows are wanted, it walks an index in the order of the page and expects
 * to find them soon; if they all stand at its end, or are fewer, it reads the whole table: 50 ms instead
 * of 1. Of a later page it knows how many rows come before, and that the walk is long. A page behind a
 * row is the first one of those behind it.
 */
export function compileFirstLimit(sql: Sql, plan: QueryPlan, limit: Fragment): Fragment {
  const isFirst = plan.page === 1 || plan.continued?.after !== undefined;
  return isFirst && dependsOnValues(plan) ? sql`(select ${limit})` : limit;
}
