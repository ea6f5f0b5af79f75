import type { Column, SqlText } from "../../catalogue/catalogue.ts";
import type { Assignment } from "../plan/assignment.ts";
import type { Predicate, Value } from "../plan/predicate.ts";
import type { Fragment, PendingQuery, Row, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";
import { join, literal } from "./fragment.ts";
import { compileList, compileTimeZoneCast, compileValue, isListedAsRows } from "./predicate.ts";

/**
 * Compiles the column `checked` of the outermost SELECT, which casts every value that only Postgres
 * can check. So an impossible date is an error even on an empty table, or after a short-circuited OR.
 * It is a sum of all casts, because Postgres always evaluates every part of a sum. Empty if there is
 * no such value.
 * @see E33
 */
export function compileValueCheck(
  sql: Sql,
  predicate: Predicate | undefined,
  assignments: readonly Assignment[] = [],
): Fragment {
  const casts = [
    ...(predicate === undefined ? [] : castsOfPredicate(sql, predicate)),
    ...assignments.flatMap((assignment) => castsOfAssignment(sql, assignment)),
  ];
  return casts.length === 0 ? sql`` : sql`, (${join(sql, "+", casts)}) checked`;
}

function castsOfPredicate(sql: Sql, predicate: Predicate): Fragment[] {
  switch (predicate.kind) {
    case "and":
    case "or":
      return predicate.items.flatMap((item) => castsOfPredicate(sql, item));
    case "compare":
      return castsOfValues(sql, [predicate.value], predicate.column);
    case "between":
      return castsOfValues(sql, [predicate.low, predicate.high], predicate.column);
    case "member":
      return predicate.values[0]?.certain ? [] : [castOfList(sql, predicate, predicate.column)];
    case "contains":
      return castsOfValues(sql, [predicate.value], predicate.column);
    case "like":
    case "null":
      return [];
  }
}

function castsOfValues(sql: Sql, values: readonly Value[], column: Column): Fragment[] {
  return values.filter((value) => !value.certain)
    .map((value) => sql`num_nulls(${compileValue(sql, value, { column })})`);
}

function castOfList(
  sql: Sql,
  { values }: Extract<Predicate, { kind: "member" }>,
  column: Column,
): Fragment {
  const list = compileList(sql, values, column);
  if (!isListedAsRows(column)) return sql`num_nulls(${list})`;
  return sql`num_nulls((select count("$cast"."$value") from (${list}) "$cast"("$value")))`;
}

function castsOfAssignment(sql: Sql, { column, value, certain }: Assignment): Fragment[] {
  if (certain) return [];
  return [sql`num_nulls(${compileValue(sql, value, { column, cast: column.storedCast })})`];
}

/** Values of one column that are cast alike: all have an offset from UTC, or none. */
export interface Suspects {
  readonly column: Column;
  readonly cast: SqlText;
  readonly values: readonly Value[];
}

/** Compiles a statement that only casts values, to find those that Postgres rejects. */
export function compileProbe(sql: Sql, { column, cast, values }: Suspects): PendingQuery<Row[]> {
  const list = printArray(values.map((value) => value.text));
  const zone = compileTimeZoneCast(sql, values[0]?.zoned, column.kind === "array");
  return sql`
    select count("$list"."$value"${zone}::${literal(sql, cast)})
    from unnest(${list}::text[]) "$list"("$value")`;
}
