import { ownColumn } from "../plan/scope.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, Sql } from "../postgres/driver.ts";
import { compileColumn } from "./fragment.ts";
import { compileWhere } from "./predicate.ts";

/**
 * Compiles the RETURNING expression of an update: true for a row that, as it was written, still
 * belongs to the tenant and matches the row filter. For any other row it raises the SQLSTATE 2203C, so
 * that nothing is written, whatever has changed the row: a generated column, a trigger, the expression
 * of a view, or another partition.
 *
 * What raises it has a column of the row in it, so that no planner evaluates it before.
 * @see T80
 */
export function compileAsWritten(sql: Sql, { scope }: Pick<UpdatePlan, "scope">): Fragment {
  const holds = compileWhere(sql, { scope, predicate: undefined }, "locked");
  return sql`
    case
      when ${holds} then true
      when pg_catalog.jsonb_path_match(
        pg_catalog.to_jsonb(pg_catalog.num_nulls(${compileColumn(sql, ownColumn(scope))})),
        '$.keyvalue()'
      ) then null
    end`;
}
