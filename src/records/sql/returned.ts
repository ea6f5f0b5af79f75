import type { Table } from "../../catalogue/catalogue.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { compileTable, join } from "./fragment.ts";
import { compileWhere } from "./predicate.ts";
import { compileOutput, compileRowBytes } from "./record.ts";
import { compileSameKey } from "./reread.ts";
import { compileVersion, readsVersions } from "./version.ts";

/** The additional columns of a write that returns its row; null if it found none. */
export interface ReturnedRow {
  /** The row as JSON, printed by Postgres. */
  readonly record?: string | null;
  /** Its version; null where it has none. */
  readonly tag?: string | null;
}

/** SQLSTATE of a row that is too large to be returned; nothing was written. @see OR19 */
export const TOO_LARGE_ROW = "2201F";

/** The parts of a plan that say when its row is read. */
type ReturningPlan = Pick<UpdatePlan, "returned" | "removal"> & { readonly table: Table };

/** Reports whether the row is read again at the end of the transaction, since it may still change. */
export function returnsLater({ returned, table, removal }: ReturningPlan): boolean {
  return returned !== undefined && removal === undefined &&
    (table.rereads === true || table.hasRewriteRules);
}

/**
 * Reports where the row of a response is: as it was written, as it was found, or, for an update, the one
 * or the other. A delete returns its row as it was.
 * @see DE17
 */
function findSource({ removal }: UpdatePlan): "$written" | "$matched" | "either" {
  if (removal === undefined) return "either";
  return removal.mark === undefined ? "$written" : "$matched";
}

/**
 * Compiles a row as JSON. Reads are printed in UTC, and a write may run in another zone, so the zone is
 * set before the row is printed, and set back behind it.
 */
function compileReturnedRecord(sql: Sql, plan: UpdatePlan): Fragment {
  const { returned, table: { timeZone } } = plan;
  const { columns, maxBytes } = returned!;
  const row = sql`
    (
      select row_to_json("$printed")::text
      from (select ${compileOutput(sql, returned!)}) "$printed"
    )`;
  const bytes = compileRowBytes(sql, { columns }, maxBytes);
  const fits = bytes && sql`(${bytes.small} or ${bytes.exact} <= ${String(maxBytes)}::text::int8)`;
  const record = fits === undefined
    ? row
    : sql`case when ${fits} then ${row} when sqrt((-1)::float8 * pg_backend_pid()) > 0 then '' end`;
  if (timeZone === undefined) return record;
  return sql`case when set_config('TimeZone', 'UTC', true) is not null then ${record} end`;
}

/** Compiles the zone of a write, which was another one while its row was printed; with a comma. */
function compileZoneAgain(sql: Sql, { table: { timeZone } }: UpdatePlan): Fragment {
  if (timeZone === undefined) return sql``;
  return sql`, set_config('TimeZone', ${timeZone}::text, true) "$zone"`;
}

function compileTag(sql: Sql, plan: UpdatePlan): Fragment {
  const isTagged = plan.returned!.versioned && readsVersions(plan);
  return isTagged ? sql`, ${compileVersion(sql, plan)} "$tag"` : sql``;
}

/** Compiles the row in a RETURNING, with a comma; empty where none is returned. */
export function compileReturning(sql: Sql, plan: UpdatePlan): Fragment {
  if (plan.returned === undefined || returnsLater(plan)) return sql``;
  if (findSource(plan) === "$matched") return sql``;
  return sql`, ${compileReturnedRecord(sql, plan)} "$record" ${compileZoneAgain(sql, plan)} ${
    compileTag(sql, plan)
  }`;
}

/** Compiles the row that was found, where it is not written or is removed; with a comma behind it. */
export function compileFound(sql: Sql, plan: UpdatePlan, changes: Fragment): Fragment {
  if (plan.returned === undefined || returnsLater(plan)) return sql``;
  const source = findSource(plan);
  if (source === "$written") return sql``;
  const row = compileReturnedRecord(sql, plan);
  const record = source === "$matched" ? row : sql`case when not ${changes} then ${row} end`;
  return sql`${record} "$record" ${compileZoneAgain(sql, plan)} ${compileTag(sql, plan)},`;
}

/** Compiles the columns of {@link ReturnedRow}, with a comma; empty where none is returned. */
export function compileReturnedColumns(sql: Sql, plan: UpdatePlan): Fragment {
  if (plan.returned === undefined || returnsLater(plan)) return sql``;
  return sql`, ${compileEither(sql, plan, sql`"$record"`)} record ${
    plan.returned.versioned && readsVersions(plan)
      ? sql`, ${compileEither(sql, plan, sql`"$tag"`)} tag`
      : sql``
  }`;
}

function compileEither(sql: Sql, plan: UpdatePlan, column: Fragment): Fragment {
  const source = findSource(plan);
  if (source === "$written") return sql`(select ${column} from "$written")`;
  if (source === "$matched") return sql`(select ${column} from "$matched" limit 1)`;
  return sql`
    case
      when exists (select from "$written") then (select ${column} from "$written")
      else (select ${column} from "$matched" limit 1)
    end`;
}

/**
 * Compiles the row as part of an answer that is kept: a JSON object, in which the record is a text, so
 * that no digit of it is lost.
 */
export function compileKeptRow(sql: Sql, plan: UpdatePlan, updated: Fragment): Fragment {
  const tag = plan.returned!.versioned && readsVersions(plan)
    ? compileEither(sql, plan, sql`"$tag"`)
    : sql`null::text`;
  return sql`
    json_build_array(json_build_object(
      'updated', ${updated}, 'record', ${compileEither(sql, plan, sql`"$record"`)}, 'tag', ${tag}
    ))::text`;
}

/**
 * Compiles a look at the row of an update at the end of its transaction: by its key if it was written,
 * by the filters if not.
 */
export function compileReturnedLater(
  sql: Sql,
  plan: UpdatePlan,
  keys: string | null,
): PendingQuery<ReturnedRow[]> {
  const { table, scope, predicate } = plan;
  const own = keys === null ? { scope, predicate } : { scope, predicate: undefined };
  const isIt = keys === null ? [] : [sql`
    exists (
      select from json_array_elements(${keys}::text::json) with ordinality "$key"("$value", "$place")
      where ${join(sql, "and", compileSameKey(sql, table))}
    )`];
  return sql<ReturnedRow[]>`
    select "$found"."$record" record ${
    plan.returned!.versioned && readsVersions(plan) ? sql`, "$found"."$tag" tag` : sql``
  }
    from (
      select ${compileReturnedRecord(sql, plan)} "$record" ${compileZoneAgain(sql, plan)} ${
    compileTag(sql, plan)
  }
      from ${compileTable(sql, table)}
      where ${join(sql, "and", [compileWhere(sql, own), ...isIt])}
      limit 1
    ) "$found"`;
}
