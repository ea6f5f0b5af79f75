import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, PendingQuery, Row, Rows, Sql } from "../../database/postgres/driver.ts";
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
import { compileEntangled, compileWriteHead, mayEntangle } from "./removal.ts";
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

/** A single update; with `readsOnly` it writes nothing and only reports what it finds. */
export type SinglePlan = UpdatePlan & { readonly readsOnly?: boolean };

/** The one row of a single update's result. */
export interface SingleRow extends ClaimRow, WrittenRow, ReturnedRow {
  /** Rows that match the filters, as digits. */
  readonly matched: string;
  /** True when exactly one row matches and one of its values would change. */
  readonly wanted: boolean;
  /**
   * Rows written, as digits: 0 or 1. If the write was wanted but did not happen, the row changed
   * meanwhile, unless it was `held`.
   */
  readonly updated: string;
  /** True if the row was locked before it was to be written, in the same statement. */
  readonly held?: boolean;
  /** The version of the row that was found where nothing was locked; null if none was. */
  readonly version?: string | null;
  /** True if the row has none of the expected versions; then nothing was written. */
  readonly stale?: boolean | null;
  /** True if the delete of the row would take rows of another tenant with it; then nothing was. */
  readonly entangled?: boolean | null;
}

/**
 * Compiles a single update into one statement that writes only when exactly one row matches.
 *
 * Count and write see one snapshot, and the write is pinned to the version of the row (ctid, xmin and
 * tableoid). If another transaction commits in between, the statement writes nothing; without the pin
 * it could write a row that was the only match only in an older state. It costs more than a plain
 * UPDATE.
 * @see U21, P14
 */
export function compileUpdateSingle(
  sql: Sql,
  plan: SinglePlan,
  settings: readonly Setting[] = [],
): PendingQuery<SingleRow[]> {
  const table = compileTable(sql, plan.table);
  const where = compileWhere(sql, plan);
  const { idempotency, expected } = plan;
  const changes = compileChangedColumns(sql, plan);
  const holds = plan.table.maySkip === true && plan.table.pinnable && plan.readsOnly === undefined;
  const total = sql`
        select case
          when "$count" < 2 then "$count"
          else (select count(*) from ${table} where ${where})
        end ${idempotency === undefined ? sql`` : sql`"$rows"`}
        from "$counted"`;
  const fits = sql`
    "$counted"."$count" = 1
    and "$matched"."$differs"
    ${mayEntangle(plan) ? sql`and not "$matched"."$entangled"` : sql``}
    ${expected === undefined ? sql`` : sql`and "$matched"."$expected"`}
    ${compileSameVersion(sql, plan)}
    ${compileMaximum(sql, plan)}`;
  return sql<SingleRow[]>`
    with ${compileSettings(sql, settings)}
    ${compileClaim(sql, idempotency)}
    "$matched" as materialized (
      select ${compilePin(sql, plan)} ${compileFound(sql, plan, changes)}
        ${expected === undefined ? sql`` : sql`${compileExpected(sql, plan)} "$expected",`}
        ${compileEntangled(sql, plan)}
        ${changes} "$differs"
      from ${table}
      where ${where} ${compileClaimed(sql, idempotency)}
      limit 2
    ),
    "$counted" as materialized (
      select count(*) "$count" from "$matched"
    ),
    ${holds ? compileHeld(sql, plan, fits) : sql``}
    "$written" as (
      ${compileWriteHead(sql, plan, sql`"$matched", "$counted"`)}
      where ${fits}
        ${plan.readsOnly ? sql`and false` : sql``}
        ${holds ? sql`and exists (select from "$held")` : sql``}
        and ${compileWhere(sql, plan, "locked")}
      returning ${compileAsWritten(sql, plan)} ${compileReturnedKey(sql, plan)}
        ${compileReturning(sql, plan)}
    )
    ${compileAuditOfOne(sql, plan)}
    ${compileKeepOfOne(sql, plan, total)}
    select
      (${idempotency === undefined ? total : sql`select "$rows" from "$total"`})::text matched,
      (
        select "$counted"."$count" = 1 and coalesce(bool_or("$matched"."$differs"), false)
        from "$counted" left join "$matched" on true
        group by "$counted"."$count"
      ) wanted,
      (select count(*) from "$written")::text updated
      ${holds ? sql`, exists (select from "$held") held` : sql``}
      ${expected === undefined ? sql`` : compileStale(sql)}
      ${mayEntangle(plan) ? sql`, (select bool_or("$entangled") from "$matched") entangled` : sql``}
      ${compileReturnedColumns(sql, plan)}
      ${readsFoundVersion(plan) ? compileFoundVersion(sql) : sql``}
      ${compileWrittenKeys(sql, plan)}
      ${compileValueCheck(sql, plan.predicate, plan.assignments)}
      ${compileClaimColumn(sql, idempotency)}
    ${compileFromSettings(sql, settings)}`;
}

/**
 * Compiles the lock of the row that the statement will write, where a trigger may skip the row: a row
 * that is locked and then not written was skipped, and nobody else has changed it.
 * @see U64
 */
function compileHeld(sql: Sql, plan: SinglePlan, fits: Fragment): Fragment {
  return sql`
    "$held" as materialized (
      select 1
      from ${compileTable(sql, plan.table)}, "$matched", "$counted"
      where ${fits} and ${compileWhere(sql, plan, "locked")}
      for update
    ),`;
}

function compileStale(sql: Sql): Fragment {
  return sql`, (
        select "$counted"."$count" = 1 and not bool_or("$matched"."$expected")
        from "$counted", "$matched"
        group by "$counted"."$count"
      ) stale`;
}

/** Reports whether a row that is not written may only be out of the role's reach. */
function readsFoundVersion({ readsOnly, removal, table }: SinglePlan): boolean {
  return table.pinnable &&
    (readsOnly === true || removal !== undefined && table.lockable === false);
}

function compileFoundVersion(sql: Sql): Fragment {
  return sql`, (
        select concat("$ctid", ' ', "$xmin", ' ', "$tableoid") from "$matched" limit 1
      ) version`;
}

/** The one row of a lock's result. */
export interface LockRow {
  /** Number of rows found, as digits: 0, 1 or 2. */
  readonly locked: string;
}

/**
 * Compiles the lock that a transaction takes before it writes. It locks at most two rows for a single
 * update, since two are enough to fail it. It makes the settings itself, because a shard does not
 * have them from an earlier statement.
 * @see P16, M17
 */
export function compileLock(
  sql: Sql,
  plan: UpdatePlan,
  settings: readonly Setting[] = [],
): PendingQuery<(LockRow & Row)[]> {
  return compileLockOfMany(sql, plan, { settings, maxRows: sql`2` });
}

/** Compiles the same for a write of at most so many rows. */
export function compileLockOfMany(
  sql: Sql,
  plan: UpdatePlan,
  { settings, maxRows }: { readonly settings: readonly Setting[]; readonly maxRows: Fragment },
): PendingQuery<(LockRow & Row)[]> {
  return sql`
    with ${compileSettings(sql, settings)}
    "$locked" as materialized (
      select 1
      from ${compileTable(sql, plan.table)}
      where ${compileWhere(sql, plan, "joined")}
      limit ${maxRows}
      for update
    )
    select (select count(*) from "$locked")::text locked
    ${compileFromSettings(sql, settings)}`;
}

/** Reads how many rows a lock has found. */
export function readLocked([row]: Rows): number {
  return Number((row as LockRow | undefined)?.locked ?? "0");
}

/**
 * Compiles the version of the row; empty for views, and tables whose system columns the role cannot
 * read, which are locked first instead.
 */
function compilePin(sql: Sql, { table }: UpdatePlan): Fragment {
  if (!table.pinnable) return sql``;
  return sql`"$row".ctid "$ctid", "$row".xmin "$xmin", "$row".tableoid "$tableoid",`;
}

function compileSameVersion(sql: Sql, { table }: UpdatePlan): Fragment {
  if (!table.pinnable) return sql``;
  return sql`
    and "$row".ctid = "$matched"."$ctid"
    and "$row".xmin = "$matched"."$xmin"
    and "$row".tableoid = "$matched"."$tableoid"`;
}

/**
 * Compiles the audit row. Every 200 has one: the matching row was written, or has the values already.
 */
function compileAuditOfOne(sql: Sql, plan: UpdatePlan): Fragment {
  if (plan.audit === undefined) return sql``;
  const counts = {
    matched: sql`"$counted"."$count"`,
    updated: sql`(select count(*) from "$written")`,
  };
  return sql`,
    "$audited" as (
      ${compileAudit(sql, plan.audit, counts)}
      from "$counted", "$matched"
      where "$counted"."$count" = 1
        ${compileMaximum(sql, plan)}
        and (not "$matched"."$differs" or exists (select from "$written"))
        ${plan.expected === undefined ? sql`` : sql`and "$matched"."$expected"`}
    )`;
}

/**
 * Compiles the insert of the answer. Every 404, every 409 with a number of rows and every 200 is
 * stored. Nothing is stored if another request changed the row meanwhile, or the update is over its
 * limit.
 */
function compileKeepOfOne(sql: Sql, plan: UpdatePlan, total: Fragment): Fragment {
  if (plan.idempotency === undefined) return sql``;
  const answer = sql`
    case
      when "$rows" = 1 then ${
    plan.returned === undefined
      ? sql`concat('[', (select count(*) from "$written"), ']')`
      : compileKeptRow(sql, plan, sql`(select count(*) from "$written")`)
  }
      else concat('{"matched":', "$rows", '}')
    end`;
  return sql`,
    "$total" as materialized (${total}),
    "$answered" as (
      ${compileKeep(sql, plan.idempotency, answer)}
      from "$claim", "$counted", "$total"
      where "$claimed" and (
        "$rows" <> 1
        or (
          (exists (select from "$written") or not exists (select from "$matched" where "$differs"))
          ${compileMaximum(sql, plan)}
          ${
    plan.expected === undefined
      ? sql``
      : sql`and exists (select from "$matched" where "$matched"."$expected")`
  }
        )
      )
    )`;
}

function compileMaximum(sql: Sql, { maxAffected }: UpdatePlan): Fragment {
  if (maxAffected === undefined) return sql``;
  return sql`and "$counted"."$count" <= ${String(maxAffected)}::text::int8`;
}
