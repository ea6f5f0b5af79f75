import type { Fragment, PendingQuery, Sql } from "../postgres/driver.ts";
import type { AuditEntry, UpdatePlan } from "../plan/update_plan.ts";
import { compileAudit } from "./audit.ts";
import { compileJudgement } from "./check_values.ts";
import { compileWhere } from "./predicate.ts";
import { compileChanges, compileSet } from "./assignments.ts";
import { compileTable } from "./fragment.ts";

/** What stands before an update of a table with rules. */
export interface Decision {
  /** Rows that match the filters, as digits. */
  readonly matched: string;
  /** True when a row that matches would change. */
  readonly wanted: boolean;
}

/**
 * Compiles the question that comes before an update of a table with rules: Postgres carries no rule
 * out inside of WITH, so that deciding and writing are two statements there.
 * @see docs/decisions/0006-rules.md
 */
export function compileDecision(sql: Sql, plan: UpdatePlan): PendingQuery<Decision[]> {
  const judgement = compileJudgement(sql, plan.predicate, plan.assignments);
  return sql<Decision[]>`select count(*)::text matched, coalesce(bool_or(${
    compileChanges(sql, plan.assignments)
  }), false) wanted${judgement === undefined ? sql`` : sql`, (${judgement}) judged`} from ${
    compileTable(sql, plan.table)
  } where ${compileWhere(sql, plan)}`;
}

/** Compiles the update itself; it writes nothing when more rows match by now than it may write. */
export function compileUpdateRuled(
  sql: Sql,
  plan: UpdatePlan,
  maxRows: number | undefined,
): Fragment {
  const table = compileTable(sql, plan.table);
  const where = compileWhere(sql, plan);
  const limit = sql`${String(maxRows)}::text::int8`;
  const guard = maxRows === undefined
    ? sql``
    : sql` and (select count(*) from (select 1 from ${table} where ${where} limit ${limit} + 1) "$r") <= ${limit}`;
  return sql`update ${table} set ${compileSet(sql, plan.assignments)} where ${where} and ${
    compileChanges(sql, plan.assignments)
  }${guard}`;
}

/** Compiles the row of the audit that a decision and what came of it leave, counts as digits. */
export function compileAuditRuled(
  sql: Sql,
  audit: AuditEntry,
  { matched, updated }: { readonly matched: string; readonly updated: string },
): Fragment {
  return compileAudit(sql, audit, {
    matched: sql`${matched}::text::int8`,
    updated: sql`${updated}::text::int8`,
  });
}
