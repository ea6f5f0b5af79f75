import type { QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { compileTable, join } from "./fragment.ts";
import { compileWhere } from "./predicate.ts";
import { compileOutput, compileSmall } from "./record.ts";

/** The result of one look-up; the column names are those of VALUES. */
export interface FoundRow {
  /** Position of the look-up in the list, as digits from 0. */
  readonly column1: string;
  /** The record, a JSON object printed by Postgres; null when there is none. */
  readonly column2: string | null;
}

/**
 * Replaces a record of more than 64 KiB, which is then read again alone, since a statement holds up
 * to eight records in memory.
 */
export const TOO_LARGE = "null";

/** Largest record that is printed. */
const MAX_BYTES = 65_536;
/** Look-ups in one statement at most. */
export const MAX_LOOK_UPS = 8;
/** The numbers of look-ups that a statement can have. They are few, so that there are few texts. */
const SIZES = [2, 4, MAX_LOOK_UPS];

/**
 * Compiles look-ups by key into one statement: each is a subquery of its own, with its own tenant.
 * They differ only in values. The last one is repeated to fill up the statement to one of the sizes.
 * @see S8, TE20
 * @see docs/decisions/0022-by-key.md
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

/**
 * Compiles one look-up. `limit 1` keeps Postgres from printing the record twice, for its size and for
 * the result.
 */
function compileLookUp(sql: Sql, plan: QueryPlan): Fragment {
  const small = compileSmall(sql, plan, MAX_BYTES);
  const printed = small === undefined
    ? sql`row_to_json("$record")`
    : sql`case when ${small} then row_to_json("$record") else 'null' end`;
  // 65540 is MAX_BYTES and the 4 bytes of a value's header.
  return sql`
    (
      select case when pg_column_size("$json") <= 65540 then "$json" else 'null' end
      from (
        select ${printed} "$json"
        from (
          select ${compileOutput(sql, plan)}
          from ${compileTable(sql, plan.table)}
          where ${compileWhere(sql, plan)}
        ) "$record"
        limit 1
      ) "$found"
    )`;
}
