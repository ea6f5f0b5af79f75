import type { Fragment, PendingQuery, Row, Sql } from "../postgres/driver.ts";
import type { Column, SqlText } from "../catalogue/catalogue.ts";
import type { Predicate, Value } from "../plan/predicate.ts";
import type { Assignment } from "../plan/assignment.ts";
import { join, literal } from "./fragment.ts";
import { compileDetour, compileList, compileValue } from "./predicate.ts";
import { printArray } from "../text/array_text.ts";

/**
 * Casts every value that only Postgres can judge, whether or not a row is reached: a date that does
 * not exist is refused on an empty table too, behind a short-circuited OR too. Gives a number, or the
 * cast fails: a sum, because Postgres leaves nothing out of it. Undefined when there is no such value.
 * @see E33
 */
export function compileJudgement(
  sql: Sql,
  predicate: Predicate | undefined,
  assignments: readonly Assignment[] = [],
): Fragment | undefined {
  const casts = [
    ...(predicate === undefined ? [] : castsOfPredicate(sql, predicate)),
    ...assignments.flatMap((assignment) => castsOfAssignment(sql, assignment)),
  ];
  return casts.length === 0 ? undefined : join(sql, "+", casts);
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
      return predicate.values[0]?.decided ? [] : [castOfList(sql, predicate, predicate.column)];
    default:
      return [];
  }
}

function castsOfValues(sql: Sql, values: readonly Value[], column: Column): Fragment[] {
  return values.filter((value) => !value.decided)
    .map((value) => sql`num_nulls(${compileValue(sql, value, { column })})`);
}

function castOfList(
  sql: Sql,
  { values }: Extract<Predicate, { kind: "member" }>,
  column: Column,
): Fragment {
  const list = compileList(sql, values, column);
  return column.kind === "array"
    ? sql`num_nulls((select count("$l"."$e") from (${list}) "$l"("$e")))`
    : sql`num_nulls(${list})`;
}

function castsOfAssignment(sql: Sql, { column, value, decided }: Assignment): Fragment[] {
  if (decided) return [];
  return [sql`num_nulls(${compileValue(sql, value, { column, cast: column.storedCast })})`];
}

/** Values of one column that Postgres casts alike: all have an offset, or none. */
export interface Suspects {
  readonly column: Column;
  readonly cast: SqlText;
  readonly values: readonly Value[];
}

/** Compiles the cast of values alone, to find out which of them Postgres refuses. */
export function compileProbe(
  sql: Sql,
  { column, cast, values }: Suspects,
): PendingQuery<Row[]> {
  const list = printArray(values.map((value) => value.text));
  const detour = compileDetour(sql, values[0]?.zoned, column.kind === "array");
  return sql`select count("$v"."$e"${detour}::${
    literal(sql, cast)
  }) from unnest(${list}::text[]) "$v"("$e")`;
}
