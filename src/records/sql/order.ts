import type { QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, join } from "./fragment.ts";

/** Compiles ORDER BY; empty without a sort. The primary key comes last, so that paging is stable. */
export function compileOrder(
  sql: Sql,
  { sort, table }: Pick<QueryPlan, "sort" | "table">,
): Fragment {
  if (sort.length === 0) return sql``;
  const sorted = new Set(sort.map(({ column }) => column.identifier));
  const keys = sort.map(({ column, descending }) => {
    const value = compileColumn(sql, column);
    return descending ? sql`${value} desc` : sql`${value}`;
  });
  const last = table.keyOrder.filter(({ identifier }) => !sorted.has(identifier))
    .map((column) => compileColumn(sql, column));
  return sql`order by ${join(sql, ",", [...keys, ...last])}`;
}

/** Compiles the columns that the records and the order need. */
export function compileNeeded(sql: Sql, { columns, sort, table }: QueryPlan): Fragment {
  const needed = new Set([
    ...columns.map(({ identifier }) => identifier),
    ...sort.map(({ column }) => column.identifier),
    ...table.keyOrder.map(({ identifier }) => identifier),
  ]);
  return join(sql, ",", [...needed].map((identifier) => compileColumn(sql, { identifier })));
}
