import type { Fragment, Sql } from "../postgres/driver.ts";
import type { Column } from "../catalogue/catalogue.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import { compileColumn, join, literal } from "./fragment.ts";

/**
 * Compiles the columns of a record. The aliases are the columns' own names, which Postgres makes the
 * keys of the JSON object.
 */
export function compileOutput(
  sql: Sql,
  { columns, wideNumbersAsText }: Pick<QueryPlan, "columns" | "wideNumbersAsText">,
): Fragment {
  return join(
    sql,
    ",",
    columns.map((column) =>
      wideNumbersAsText && column.wideNumber
        ? compileAsText(sql, column)
        : compileColumn(sql, column)
    ),
  );
}

function compileAsText(sql: Sql, column: Column): Fragment {
  const value = compileColumn(sql, column);
  const name = literal(sql, column.identifier);
  return column.kind === "array" ? sql`${value}::text[] ${name}` : sql`${value}::text ${name}`;
}
