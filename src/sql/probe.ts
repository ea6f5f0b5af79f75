import type { PendingQuery, Row, Sql } from "../postgres/driver.ts";
import { printArray } from "../text/array_text.ts";
import type { Column, SqlText } from "../catalogue/catalogue.ts";
import type { Value } from "../plan/predicate.ts";
import { literal } from "./fragment.ts";
import { compileDetour } from "./predicate.ts";

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
