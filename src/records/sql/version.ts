import type { UpdatePlan } from "../plan/update_plan.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";

/** The parts of a plan that say whether versions of rows are read, and by which key. */
export type VersionedPlan = Pick<QueryPlan | UpdatePlan, "table" | "versionKey">;

/**
 * Compiles the version of a row, as hexadecimal digits: a digest of where the row is and of the
 * transaction that wrote it. Every write of a row changes one of them: a second write in the same
 * transaction, or in another one with a number that was used before, cannot have the same place too,
 * and a row that moves has another `tableoid`. Locks, and reads, change none. The digest has a key, or
 * clients could find out how many transactions the database runs. NULL for a row of another server, which
 * has no such number.
 * @see OR8, OR10
 */
export function compileVersion(sql: Sql, { versionKey }: VersionedPlan): Fragment {
  return sql`
    case when "$row".xmin::text <> '0' then encode(substr(sha256(convert_to(
      concat(
        ${versionKey!}::text, ' ', "$row".ctid, ' ', "$row".xmin, ' ', "$row".tableoid
      ), 'UTF8'
    )), 1, 16), 'hex') end`;
}

/** Reports whether a plan reads versions. */
export function readsVersions({ table, versionKey }: VersionedPlan): boolean {
  return versionKey !== undefined && table.pinnable;
}

/** Compiles whether a row has one of the versions that `If-Match` names. @see OR11 */
export function compileExpected(sql: Sql, plan: UpdatePlan): Fragment {
  const versions = printArray(plan.expected!);
  return sql`coalesce(${compileVersion(sql, plan)} = any(${versions}::text::text[]), false)`;
}
