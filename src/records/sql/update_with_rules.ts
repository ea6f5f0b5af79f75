import type { AuditEntry, UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { compileChangedColumns } from "./assignments.ts";
import { compileAudit } from "./audit.ts";
import { compileValueCheck } from "./check_values.ts";
import { compileTable } from "./fragment.ts";
import { compileWhere } from "./predicate.ts";
import { compileIsEntangled, compileWriteHead, mayEntangle } from "./removal.ts";
import { compileKey, type WrittenRow } from "./reread.ts";
import { compileExpected } from "./version.ts";

/** The rows that an update of a table with rewrite rules would find; `keys` has those to be written. */
export interface Decision extends WrittenRow {
  /** Rows that match the filters, as digits. */
  readonly matched: string;
  /** True if a matching row would change. */
  readonly wanted: boolean;
  /** True if a row has none of the expected versions; then nothing may be written. */
  readonly stale?: boolean | null;
  /** True if a delete would take rows of another tenant with it; then nothing may be deleted. */
  readonly entangled?: boolean | null;
}

/**
 * Compiles the decision before an update of a table with rewrite rules. Postgres applies no rules
 * inside of WITH, so deciding and writing are two statements.
 * @see docs/decisions/0025-transactions.md
 */
export function compileDecision(sql: Sql, plan: UpdatePlan): PendingQuery<Decision[]> {
  const changes = compileChangedColumns(sql, plan);
  return sql<Decision[]>`
    select
      count(*)::text matched,
      coalesce(bool_or(${changes}), false) wanted,
      ${
    plan.expected === undefined ? sql`` : sql`not bool_and(${compileExpected(sql, plan)}) stale,`
  }
      ${mayEntangle(plan) ? sql`bool_or(${compileIsEntangled(sql, plan)}) entangled,` : sql``}
      ${
    plan.table.keyOrder.length === 0
      ? sql`null::text keys`
      : sql`(json_agg(${compileKey(sql, plan)}) filter (where ${changes}))::text keys`
  }
      ${compileValueCheck(sql, plan.predicate, plan.assignments)}
    from ${compileTable(sql, plan.table)}
    where ${compileWhere(sql, plan)}`;
}

/** Compiles the update itself; it writes nothing if by now more rows match than it may write. */
export function compileUpdateWithRules(
  sql: Sql,
  plan: UpdatePlan,
  maxRows: number | undefined,
): Fragment {
  const where = compileWhere(sql, plan);
  return sql`
    ${compileWriteHead(sql, plan)}
    where ${compileWhere(sql, plan, "joined")}
      and ${compileChangedColumns(sql, plan)}
      ${maxRows === undefined ? sql`` : compileAtMost(sql, plan, { where, maxRows })}`;
}

function compileAtMost(
  sql: Sql,
  { table }: UpdatePlan,
  { where, maxRows }: { readonly where: Fragment; readonly maxRows: number },
): Fragment {
  const limit = sql`${String(maxRows)}::text::int8`;
  return sql`
    and (
      select count(*)
      from (select 1 from ${compileTable(sql, table)} where ${where} limit ${limit} + 1) "$matched"
    ) <= ${limit}`;
}

/** Compiles the audit row for a decision and its update; counts are digits. */
export function compileAuditWithRules(
  sql: Sql,
  audit: AuditEntry,
  { matched, updated }: { readonly matched: string; readonly updated: string },
): Fragment {
  return compileAudit(sql, audit, {
    matched: sql`${matched}::text::int8`,
    updated: sql`${updated}::text::int8`,
  });
}
