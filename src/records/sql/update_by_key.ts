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
import { compileWriteHead } from "./removal.ts";
import { compileReturnedKey, compileWrittenKeys, type WrittenRow } from "./reread.ts";
import {
  compileFound,
  compileKeptRow,
  compileReturnedColumns,
  compileReturning,
  type ReturnedRow,
} from "./returned.ts";
import { compileFromSettings, compileSettings, type Setting } from "./settings.ts";
import { compileExpected } from "./version.ts";

/** The one row of the result of an update by key. */
export interface KeyedRow extends ClaimRow, WrittenRow, ReturnedRow {
  /** Null if no row matches; true if one of its values would change. */
  readonly wanted: boolean | null;
  /** Null if nothing was written. If it was wanted but not written, the row changed meanwhile. */
  readonly updated: true | null;
  /** True if the row has none of the expected versions; then nothing was written. */
  readonly stale?: boolean | null;
}

/**
 * SQLSTATE of a scalar subquery with a second row: the key is no longer unique, and the update was
 * rolled back.
 */
export const SECOND_ROW = "21000";

/**
 * Compiles a single update whose filters name the whole key, so that at most one row can match.
 * Nothing is counted and no version is pinned, which saves a third of the cost in Postgres. Where a
 * trigger may skip the row, the row is locked first: then no other request can have kept it from
 * being written.
 *
 * The result reads `$matched` and `$written` as scalar subqueries. If the key was dropped after the
 * catalogue was read, and two rows match, Postgres fails with {@link SECOND_ROW}.
 * @see docs/decisions/0022-by-key.md
 * @see U20, U64
 */
export function compileUpdateByKey(
  sql: Sql,
  plan: UpdatePlan,
  settings: readonly Setting[] = [],
): PendingQuery<KeyedRow[]> {
  const { predicate, assignments, idempotency } = plan;
  const table = compileTable(sql, plan.table);
  const { maySkip } = plan.table;
  const where = compileWhere(sql, plan, maySkip ? "locked" : "seen");
  const { expected } = plan;
  const changes = compileChangedColumns(sql, plan);
  const claimed = compileClaimed(sql, idempotency);
  return sql<KeyedRow[]>`
    with ${compileSettings(sql, settings)}
    ${compileClaim(sql, idempotency)}
    "$matched" as materialized (
      select ${compileFound(sql, plan, changes)}
        ${expected === undefined ? sql`` : sql`${compileExpected(sql, plan)} "$expected",`}
        ${changes} "$differs"
      from ${table}
      where ${where} ${claimed}
      ${maySkip ? sql`for update` : sql``}
    ),
    "$written" as (
      ${compileWriteHead(sql, plan)}
      where ${compileWhere(sql, plan, "locked")} and ${
    maySkip ? sql`(select "$differs" from "$matched")` : changes
  } ${claimed}
        ${expected === undefined ? sql`` : sql`and ${compileExpected(sql, plan)}`}
      returning ${compileAsWritten(sql, plan)} "$updated" ${compileReturnedKey(sql, plan)}
        ${compileReturning(sql, plan)}
    )
    ${compileAuditOfKey(sql, plan)}
    ${compileKeepOfKey(sql, plan)}
    select
      (select "$differs" from "$matched") wanted,
      (select "$updated" from "$written") updated
      ${expected === undefined ? sql`` : sql`, (select not "$expected" from "$matched") stale`}
      ${compileReturnedColumns(sql, plan)}
      ${compileWrittenKeys(sql, plan)}
      ${compileValueCheck(sql, predicate, assignments)}
      ${compileClaimColumn(sql, idempotency)}
    ${compileFromSettings(sql, settings)}`;
}

/** Compiles the audit row. Every 200 has one: the row was written, or has the values already. */
function compileAuditOfKey(sql: Sql, { audit, expected }: UpdatePlan): Fragment {
  if (audit === undefined) return sql``;
  const counts = { matched: sql`1`, updated: sql`(select count(*) from "$written")` };
  return sql`,
    "$audited" as (
      ${compileAudit(sql, audit, counts)}
      from "$matched"
      where (not "$differs" or exists (select from "$written"))
        ${expected === undefined ? sql`` : sql`and "$expected"`}
    )`;
}

/**
 * Compiles the insert of the answer. Every 404 and 200 is stored. If another request changed the row
 * meanwhile, the result is not decided yet.
 */
function compileKeepOfKey(sql: Sql, plan: UpdatePlan): Fragment {
  const { idempotency, expected, returned } = plan;
  if (idempotency === undefined) return sql``;
  const differs = sql`(select "$differs" from "$matched")`;
  const updated = sql`(select "$updated" from "$written")`;
  const answer = sql`
    case when ${differs} is null then '{"matched":0}' ${
    returned === undefined
      ? sql`when ${updated} then '[1]' else '[0]'`
      : sql`else ${compileKeptRow(sql, plan, sql`(case when ${updated} then 1 else 0 end)`)}`
  } end`;
  return sql`,
    "$answered" as (
      ${compileKeep(sql, idempotency, answer)}
      from "$claim"
      where "$claimed" and (${differs} is not true or ${updated})
        ${
    expected === undefined ? sql`` : sql`and (select "$expected" from "$matched") is not false`
  }
    )`;
}
