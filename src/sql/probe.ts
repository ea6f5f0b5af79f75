import type { PendingQuery, Row, Sql } from "postgres";
import { printArray } from "../array_text.ts";
import type { SqlText } from "../catalogue/catalogue.ts";
import { literal } from "./fragment.ts";

/** Compiles the cast of values alone, to find out which of them Postgres refuses. */
export function compileProbe(
  sql: Sql,
  texts: readonly string[],
  cast: SqlText,
): PendingQuery<Row[]> {
  const list = printArray(texts);
  return sql`select count("$v"."$e"::${
    literal(sql, cast)
  }) from unnest(${list}::text[]) "$v"("$e")`;
}
