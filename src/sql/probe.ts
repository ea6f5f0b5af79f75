import type { PendingQuery, Row, Sql } from "postgres";
import type { SqlText } from "../catalogue/catalogue.ts";
import { literal } from "./fragment.ts";

/** Compiles the cast of one value alone, to find out whether it is the one that Postgres refused. */
export function compileProbe(sql: Sql, text: string, cast: SqlText): PendingQuery<Row[]> {
  return sql`select ${text}::text::${literal(sql, cast)} is null`;
}
