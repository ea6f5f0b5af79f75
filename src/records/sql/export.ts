import type { Column } from "../../catalogue/catalogue.ts";
import { exportedAs, type ExportPlan } from "../plan/export_plan.ts";
import type { Fragment, PendingQuery, Row, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, compileTable, join } from "./fragment.ts";
import { compileOrder } from "./order.ts";
import { compileWhere } from "./predicate.ts";
import { compileRowBytes } from "./record.ts";

/** SQLSTATE of a record that is too large; nothing else in the statement can raise it. */
export const RECORD_TOO_LARGE = "2201E";

/**
 * Compiles an export into one statement, hence one snapshot. It gives a row for each record; the
 * first column only checks the size. Each other column is the text of its value or JSON, as {@link
 * exportedAs} says.
 * @see EX3, EX4, EX17
 */
export function compileExport(sql: Sql, plan: ExportPlan): PendingQuery<Row[]> {
  const values = plan.columns.map((column) => compileValue(sql, column, plan));
  return sql`
    select ${join(sql, ",", [compileSizeCheck(sql, plan), ...values])}
    from ${compileTable(sql, plan.table)}
    where ${compileWhere(sql, plan)}
    ${compileOrder(sql, plan)}`;
}

function compileValue(sql: Sql, column: Column, plan: ExportPlan): Fragment {
  const value = compileColumn(sql, column);
  switch (exportedAs(column, plan)) {
    case "number":
    case "boolean":
    case "text":
      return value;
    case "json":
      return plan.wideNumbersAsText && column.wideNumber && column.kind === "array"
        ? sql`to_json(${value}::text[])`
        : plan.wideNumbersAsText && column.wideNumber
        ? sql`to_json(${value}::text)`
        : sql`to_json(${value})`;
  }
}

/**
 * Compiles NULL, or an error for a record that is too large. Postgres computes columns in order, so
 * nothing of such a record is printed. The failing expression is not a constant, which Postgres would
 * evaluate before the first row.
 */
function compileSizeCheck(sql: Sql, plan: ExportPlan): Fragment {
  const bytes = compileRowBytes(sql, plan, plan.maxRecordBytes);
  if (bytes === undefined) return sql`null`;
  const { estimated, small, exact } = bytes;
  return sql`
    case when ${small} then null
      when ${exact} <= ${String(plan.maxRecordBytes)}::text::int8 then null
      else ln(least(${estimated}, 0)::float8)
    end`;
}
