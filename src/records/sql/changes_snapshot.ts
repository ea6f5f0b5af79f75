import type { ChangesPlan } from "../plan/changes_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import {
  type ChangesRow,
  compileLines,
  compileState,
  compileTarget,
  type FeedStatement,
} from "./change_lines.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileRowComparison } from "./operator.ts";
import { compileWhere } from "./predicate.ts";
import { compileFromSettings, compileSettings } from "./settings.ts";

/**
 * Compiles the statement that reads the next rows of a snapshot, in the order of their keys, and where
 * the log is at the same moment. `after` has the texts of the last key that was given.
 */
export function compileChangesSnapshot(
  sql: Sql,
  { plan, settings, ...statement }: FeedStatement,
  after: readonly string[] | undefined,
): PendingQuery<ChangesRow[]> {
  const limit = sql`${String(plan.limit)}::text::int8`;
  const keys = plan.table.primaryKey.map((column) => compileColumn(sql, column));
  return sql<ChangesRow[]>`
    with ${compileSettings(sql, settings)}
    "$found" as materialized (
      select ${join(sql, ",", keys)}
      from ${compileTable(sql, plan.table)}
      where ${compileWhere(sql, { ...plan, predicate: undefined })} ${
    compileAfter(sql, plan, after)
  }
      order by ${join(sql, ",", keys)}
      limit ${limit} + 1
    ),
    "$numbered" as materialized (
      select "$row".*, row_number() over (order by ${join(sql, ",", keys)}) "$number"
      from "$found" "$row"
    ),
    "$keys" as materialized (
      select "$each".* from "$numbered" "$each" where "$each"."$number" <= ${limit}
    ),
    ${compileLines(sql, plan, { row: compileTarget(sql, plan), measured: statement.measured })}
    select
      ${compileState(sql, { plan, ...statement })},
      (
        select json_build_array(${compileTexts(sql, plan)})::text
        from "$numbered" "$row"
        where "$row"."$number" = ${limit}
          and (select max("$each"."$number") from "$numbered" "$each") > ${limit}
      ) "last",
      (select "$answer"."$lines" from "$answer")::text lines,
      (select "$answer"."$large" from "$answer")::text large
    ${compileFromSettings(sql, settings)}`;
}

/** Compiles the statement that reads only the current position of the log. */
export function compileChangesMoment(
  sql: Sql,
  { settings, ...statement }: FeedStatement,
): PendingQuery<ChangesRow[]> {
  if (settings.length === 0) {
    return sql<ChangesRow[]>`select ${compileState(sql, statement)}`;
  }
  return sql<ChangesRow[]>`
    with "$none" as (select), ${compileSettings(sql, settings)} "$last" as (select)
    select ${compileState(sql, statement)}
    ${compileFromSettings(sql, settings)}`;
}

function compileAfter(
  sql: Sql,
  { table: { primaryKey } }: ChangesPlan,
  after: readonly string[] | undefined,
): Fragment {
  if (after === undefined) return sql``;
  const keys = primaryKey.map((column, place) => ({
    column,
    left: compileColumn(sql, column),
    right: sql`${after[place] ?? null}::text::${literal(sql, column.cast)}`,
  }));
  return sql`and ${compileRowComparison(sql, ">", keys)}`;
}

/** Compiles the texts of a key, as the log would have them. */
function compileTexts(sql: Sql, { table: { primaryKey } }: ChangesPlan): Fragment {
  return join(sql, ",", primaryKey.map((column) => sql`concat(${compileColumn(sql, column)})`));
}
