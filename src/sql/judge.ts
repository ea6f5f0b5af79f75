import type { Fragment, Sql } from "postgres";
import type { Column } from "../catalogue/catalogue.ts";
import type { Predicate } from "../plan/predicate.ts";
import type { Assignment } from "../plan/update_plan.ts";
import { join, literal } from "./fragment.ts";
import { compileList, compileValue } from "./predicate.ts";

/**
 * Casts every value that only Postgres can judge, whether or not a row is reached: a date that does
 * not exist is refused on an empty table too, behind a short-circuited OR too. Gives `false`, or the
 * cast fails. Undefined when there is no such value.
 * @see DECISIONS 3
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
  return casts.length === 0 ? undefined : join(sql, "or", casts);
}

function castsOfPredicate(sql: Sql, predicate: Predicate): Fragment[] {
  switch (predicate.kind) {
    case "and":
    case "or":
      return predicate.items.flatMap((item) => castsOfPredicate(sql, item));
    case "compare":
      return predicate.value.decided
        ? []
        : [sql`${compileValue(sql, predicate.value, predicate.column)} is null`];
    case "between":
      return [predicate.low, predicate.high].filter((value) => !value.decided)
        .map((value) => sql`${compileValue(sql, value, predicate.column)} is null`);
    case "member":
      return predicate.values.every((value) => value.decided)
        ? []
        : [castOfList(sql, predicate, predicate.column)];
    default:
      return [];
  }
}

function castOfList(
  sql: Sql,
  { values }: Extract<Predicate, { kind: "member" }>,
  column: Column,
): Fragment {
  const list = compileList(sql, values, column);
  return column.kind === "array"
    ? sql`(select count("$l"."$e") from (${list}) "$l"("$e")) is null`
    : sql`${list} is null`;
}

function castsOfAssignment(sql: Sql, { column, value }: Assignment): Fragment[] {
  if (value === null || value.decided) return [];
  return [sql`${value.text}::text::${literal(sql, column.storedCast)} is null`];
}
