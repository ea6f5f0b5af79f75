import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { compileAsWritten } from "./as_written.ts";
import { compileChangedColumns } from "./assignments.ts";
import { compileAudit } from "./audit.ts";
import { compileValueCheck } from "./check_values.ts";
import { compileTable } from "./fragment.ts";
import {
  type ClaimRow,
  compileClaim,
  compileClaimColumn,
  compileClaimed,
  compileKeep,
} from "./idempotency.ts";
import { compileWhere } from "./predicate.ts";
import { compileIsEntangled, compileWriteHead, mayEntangle } from "./removal.ts";
import { compileReturnedKey, compileWrittenKeys, type WrittenRow } from "./reread.ts";
import { compileFromSettings, compileSettings, type Setting } from "./settings.ts";

/** The one row of a bulk update's result. */
export interface BulkRow extends ClaimRow, WrittenRow {
  /** Number of rows written, as digits: those whose values really changed. */
  readonly updated: string;
  /**
   * Number of matching rows, as digits, if there are more than `max-affected` allows; then nothing
   * was written.
   */
  readonly exceeding?: string | null;
  /** True if a delete would take rows of another tenant with it; then nothing was deleted. */
  readonly entangled?: boolean | null;
}

/**
 * Compiles a bulk update into one statement. Rows that have the values already are not written, so
 * their triggers do not fire. That is far cheaper if nothing changes, and costs little if every row
 * does.
 * @see U32, U43, P4
 */
export function compileUpdateBulk(
  sql: Sql,
  plan: UpdatePlan,
  settings: readonly Setting[] = [],
): PendingQuery<BulkRow[]> {
  const table = compileTable(sql, plan.table);
  const where = compileWhere(sql, plan);
  if (plan.maxAffected !== undefined) {
    const limit = sql`${String(plan.maxAffected)}::text::int8`;
    return compileLimited(sql, plan, { table, where, limit, settings });
  }
  const { idempotency } = plan;
  return sql<BulkRow[]>`
    with ${compileSettings(sql, settings)}
    ${compileClaim(sql, idempotency)}
    "$written" as (
      ${compileWriteHead(sql, plan)}
      where ${compileWhere(sql, plan, "joined")}
        and ${compileChangedColumns(sql, plan)}
        ${compileClaimed(sql, idempotency)}
      returning ${compileAsWritten(sql, plan)} ${compileReturnedKey(sql, plan)}
    )
    ${compileAuditOfMany(sql, plan, { table, where })}
    ${compileKeepOfMany(sql, plan)}
    select
      (select count(*) from "$written")::text updated
      ${compileWrittenKeys(sql, plan)}
      ${compileValueCheck(sql, plan.predicate, plan.assignments)}
      ${compileClaimColumn(sql, idempotency)}
    ${compileFromSettings(sql, settings)}`;
}

/**
 * Compiles an update with `max-affected`: the same snapshot counts the matching rows, up to one more
 * than allowed.
 */
function compileLimited(
  sql: Sql,
  plan: UpdatePlan,
  { table, where, limit, settings }: Record<"table" | "where" | "limit", Fragment> & {
    readonly settings: readonly Setting[];
  },
): PendingQuery<BulkRow[]> {
  const { idempotency } = plan;
  const entangles = mayEntangle(plan);
  const fits = sql`"$counted"."$count" <= ${limit} ${
    entangles ? sql`and "$counted"."$entangled" is not true` : sql``
  }`;
  return sql<BulkRow[]>`
    with ${compileSettings(sql, settings)}
    ${compileClaim(sql, idempotency)}
    "$counted" as materialized (
      select count(*) "$count" ${entangles ? sql`, bool_or("$found") "$entangled"` : sql``}
      from (
        select ${entangles ? sql`${compileIsEntangled(sql, plan)} "$found"` : sql`1`}
        from ${table} where ${where} limit ${limit} + 1
      ) "$matched"
    ),
    "$written" as (
      ${compileWriteHead(sql, plan, sql`"$counted"`)}
      where ${compileWhere(sql, plan, "joined")}
        and ${compileChangedColumns(sql, plan)}
        and ${fits}
        ${compileClaimed(sql, idempotency)}
      returning ${compileAsWritten(sql, plan)} ${compileReturnedKey(sql, plan)}
    )
    ${compileAuditOfLimited(sql, plan, fits)}
    ${compileKeepOfMany(sql, plan, sql`and (select ${fits} from "$counted")`)}
    select
      (select count(*) from "$written")::text updated,
      (
        select case
          when "$count" > ${limit} then (select count(*) from ${table} where ${where})
        end
        from "$counted"
      )::text exceeding
      ${entangles ? sql`, (select "$entangled" from "$counted") entangled` : sql``}
      ${compileWrittenKeys(sql, plan)}
      ${compileValueCheck(sql, plan.predicate, plan.assignments)}
      ${compileClaimColumn(sql, idempotency)}
    ${compileFromSettings(sql, settings)}`;
}

/**
 * Compiles the audit row. Every 200 has one, even if nothing matches; matches are counted in the
 * snapshot of the update.
 */
function compileAuditOfMany(
  sql: Sql,
  { audit, idempotency }: UpdatePlan,
  { table, where }: Record<"table" | "where", Fragment>,
): Fragment {
  if (audit === undefined) return sql``;
  const counts = {
    matched: sql`(select count(*) from ${table} where ${where})`,
    updated: sql`(select count(*) from "$written")`,
  };
  return sql`,
    "$audited" as (
      ${compileAudit(sql, audit, counts)}
      ${idempotency === undefined ? sql`` : sql`from "$claim" where "$claimed"`}
    )`;
}

function compileAuditOfLimited(
  sql: Sql,
  { audit, idempotency }: UpdatePlan,
  fits: Fragment,
): Fragment {
  if (audit === undefined) return sql``;
  const counts = {
    matched: sql`"$counted"."$count"`,
    updated: sql`(select count(*) from "$written")`,
  };
  return sql`,
    "$audited" as (
      ${compileAudit(sql, audit, counts)}
      from "$counted"
      where ${fits} ${compileClaimed(sql, idempotency)}
    )`;
}

/**
 * Compiles the insert of the answer. Every 200 is stored; `within` is the condition for a 200, with
 * `and`.
 */
function compileKeepOfMany(sql: Sql, { idempotency }: UpdatePlan, within = sql``): Fragment {
  if (idempotency === undefined) return sql``;
  const answer = sql`concat('[', (select count(*) from "$written"), ']')`;
  return sql`,
    "$answered" as (
      ${compileKeep(sql, idempotency, answer)}
      from "$claim"
      where "$claimed" ${within}
    )`;
}
