import type { Fragment, PendingQuery, Sql } from "../postgres/driver.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import { compileAudit } from "./audit.ts";
import { compileJudgement } from "./check_values.ts";
import { compileWhere } from "./predicate.ts";
import { compileFromSettings, compileSettings, type Setting } from "./settings.ts";
import { compileChanges, compileSet } from "./assignments.ts";
import { compileTable } from "./fragment.ts";

/** The one row of a bulk update's result. */
export interface BulkRow {
  /** Rows written, as digits: those whose values really changed. */
  readonly updated: string;
  /** Rows that match, as digits, when more do than `max-affected` allows and nothing was written. */
  readonly exceeding?: string | null;
}

/**
 * Compiles a bulk update into one statement. Rows that hold the values already are not written, so
 * their triggers don't fire: 19 times cheaper when nothing changes, 1.05 times the cost when all does.
 * With `max-affected` the rows are counted in the same snapshot, up to one more than allowed.
 * @see U32, U43, P4
 */
export function compileUpdateBulk(
  sql: Sql,
  plan: UpdatePlan,
  settings: readonly Setting[] = [],
): PendingQuery<BulkRow[]> {
  const table = compileTable(sql, plan.table);
  const where = compileWhere(sql, plan);
  const judgement = compileJudgement(sql, plan.predicate, plan.assignments);
  const limit = plan.maxAffected === undefined
    ? undefined
    : sql`${String(plan.maxAffected)}::text::int8`;
  return sql<BulkRow[]>`with ${compileSettings(sql, settings)}${
    limit === undefined
      ? sql``
      : sql`"$k" as materialized (select count(*) "$n" from (select 1 from ${table} where ${where} limit ${limit} + 1) "$r"), `
  }"$u" as (update ${table} set ${compileSet(sql, plan.assignments)}${
    limit === undefined ? sql`` : sql` from "$k"`
  } where ${where} and ${compileChanges(sql, plan.assignments)}${
    limit === undefined ? sql`` : sql` and "$k"."$n" <= ${limit}`
  } returning 1)${
    compileAuditOfMany(sql, plan, { table, where, limit })
  } select (select count(*) from "$u")::text updated${
    limit === undefined
      ? sql``
      : sql`, (select case when "$n" > ${limit} then (select count(*) from ${table} where ${where}) end from "$k")::text exceeding`
  }${judgement === undefined ? sql`` : sql`, (${judgement}) judged`}${
    compileFromSettings(sql, settings)
  }`;
}

/**
 * Left by each answer of 200, also when nothing matched. What matched is counted in the snapshot of
 * the update, which needs a reading of its own where `max-affected` has not asked for it already.
 */
function compileAuditOfMany(
  sql: Sql,
  { audit }: UpdatePlan,
  { table, where, limit }: { table: Fragment; where: Fragment; limit: Fragment | undefined },
): Fragment {
  if (audit === undefined) return sql``;
  const updated = sql`(select count(*) from "$u")`;
  if (limit === undefined) {
    const matched = sql`(select count(*) from ${table} where ${where})`;
    return sql`, "$a" as (${compileAudit(sql, audit, { matched, updated })})`;
  }
  const row = compileAudit(sql, audit, { matched: sql`"$k"."$n"`, updated });
  return sql`, "$a" as (${row} from "$k" where "$k"."$n" <= ${limit})`;
}
