import type { Fragment, PendingQuery, Sql } from "../postgres/driver.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import { compileTable, join } from "./fragment.ts";
import { compileOutput, compileSmall } from "./record.ts";
import { compileWhere } from "./predicate.ts";

/** What was found for one look-up; VALUES gives its columns these names. */
export interface FoundRow {
  /** Place of the look-up in the list, as digits from 0. */
  readonly column1: string;
  /** The record, a JSON object printed by Postgres; null when there is none. */
  readonly column2: string | null;
}

/**
 * In place of a record of more than 64 KiB, which is asked for alone: eight may be in memory at once.
 * Postgres counts 4 bytes of a value besides its own.
 */
export const TOO_LARGE = "null";

/** What a record may have before it is printed. */
const MAX_BYTES = 65_536;
/** As many rows as a statement may have, so that there are few texts. */
const SIZES = [2, 4, 8];
/** Look-ups in one statement at most. */
export const MOST_LOOK_UPS = 8;

/**
 * Compiles look-ups by key into one statement: each is a subquery of its own, with its own tenant. They
 * differ in values alone; the last one is repeated until there is a statement of such a size.
 * @see S8, TE20
 * @see docs/decisions/0186-look-ups-together.md
 */
export function compileLookUps(sql: Sql, plans: readonly QueryPlan[]): PendingQuery<FoundRow[]> {
  const size = SIZES.find((size) => size >= plans.length)!;
  const rows = Array.from(
    { length: size },
    (_, place) =>
      sql`(${String(place)}::text, ${compileLookUp(sql, plans[place] ?? plans.at(-1)!)})`,
  );
  return sql<FoundRow[]>`values ${join(sql, ",", rows)}`;
}

/** `limit` keeps Postgres from printing the record once for its size and once more for itself. */
function compileLookUp(sql: Sql, plan: QueryPlan): Fragment {
  const row = sql`select ${compileOutput(sql, plan)} from ${compileTable(sql, plan.table)} where ${
    compileWhere(sql, plan)
  }`;
  const small = compileSmall(sql, plan, MAX_BYTES);
  const printed = small === undefined
    ? sql`row_to_json("$r")`
    : sql`case when ${small} then row_to_json("$r") else 'null' end`;
  return sql`(select case when pg_column_size("$j") <= 65540 then "$j" else 'null' end from (select ${printed} "$j" from (${row}) "$r" limit 1) "$f")`;
}
