import {
  type ChangesPlan,
  type LogPosition,
  type LogSnapshot,
  tenantInLog,
} from "../plan/changes_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";
import {
  type ChangesRow,
  compileLines,
  compileState,
  compileTarget,
  type FeedStatement,
} from "./change_lines.ts";
import { join, literal } from "./fragment.ts";
import { imagesOf } from "../plan/row_filter.ts";
import { compilePredicate } from "./predicate.ts";
import { compileFromSettings, compileSettings } from "./settings.ts";

/** Keys that are read from the log for each change that a page may have. */
const EVENTS_OF_CHANGE = 10;
/**
 * Fewest keys to read, so that small pages do not take long to pass a row that changes all the time.
 */
const MIN_EVENTS = 1000;

/**
 * Compiles the statement that reads what changed since a position: the keys from the log, the rows as
 * they are now, and where the log is, all of one snapshot.
 *
 * The entries that the position's snapshot did not see are those of transactions that were running, and
 * of all that began later; each of these is one range of an index.
 * @see docs/decisions/0049-cursors-and-feeds.md
 */
export function compileChanges(
  sql: Sql,
  { plan, settings, ...statement }: FeedStatement,
  position: LogPosition,
): PendingQuery<ChangesRow[]> {
  const isFiltered = hidesRows(plan);
  const limit = sql`${String(plan.limit)}::text::int8`;
  const events = sql`${String(Math.max(MIN_EVENTS, plan.limit * EVENTS_OF_CHANGE))}::text::int8`;
  const place = position.partial?.place ?? { xid: "0", seq: "0", ordinal: "0" };
  return sql<ChangesRow[]>`
    with ${compileSettings(sql, settings)}
    "$entries" as materialized (${compileEntries(sql, { plan, position, events, ...statement })}),
    "$sized" as materialized (
      select "$entry".*,
        sum("$entry".amount) over (
          order by "$entry"."$phase", "$entry".xid, "$entry".seq
        ) - "$entry".amount "$before"
      from "$entries" "$entry"
    ),
    "$events" as materialized (
      select
        row_number() over (
          order by "$entry"."$phase", "$entry".xid, "$entry".seq, "$each"."$ordinal"
        ) "$number",
        "$entry"."$phase", "$entry".xid, "$entry".seq, "$each"."$ordinal", "$each"."$key" ${
    isFiltered ? sql`, "$each"."$image"` : sql``
  }
      from "$sized" "$entry"
      cross join lateral ${
    isFiltered
      ? sql`unnest("$entry".keys, "$entry".images)
        with ordinality "$each"("$key", "$image", "$ordinal")`
      : sql`unnest("$entry".keys) with ordinality "$each"("$key", "$ordinal")`
  }
      where "$entry"."$before" <= ${events} + 1000
        and not ("$entry"."$phase" = 0 and "$entry".xid = ${place.xid}::text::xid8
          and "$entry".seq = ${place.seq}::text::int8
          and "$each"."$ordinal" <= ${place.ordinal}::text::int8)
      order by 1
      limit ${events} + 1
    ),
    "$firsts" as materialized (
      select "$event"."$key", min("$event"."$number") "$number" ${
    isFiltered ? sql`, bool_or(${compileSeen(sql, plan)}) "$seen"` : sql``
  }
      from "$events" "$event"
      where "$event"."$number" <= ${events}
      group by "$event"."$key"
      order by 2
      limit ${limit} + 1
    ),
    "$cut" as materialized (
      select case
        when (select count(*) from "$firsts") > ${limit}
        then (select max("$first"."$number") from "$firsts" "$first") - 1
        when (select count(*) from "$events") > ${events} then ${events}
      end "$number"
    ),
    "$keys" as materialized (
      select "$first"."$number", ${isFiltered ? sql`"$first"."$seen",` : sql``} ${
    compileKeys(sql, plan)
  }
      from (
        select "$each"."$number", "$each"."$key" ${isFiltered ? sql`, "$each"."$seen"` : sql``}
        from "$firsts" "$each"
        order by "$each"."$number"
        limit ${limit}
      ) "$first"
    ),
    ${
    compileLines(sql, plan, {
      ...{ row: compileTarget(sql, plan), measured: statement.measured, onlySeen: isFiltered },
    })
  }
    select
      ${compileState(sql, { plan, ...statement })},
      (
        select json_build_array("$event"."$phase", "$event".xid::text, "$event".seq::text,
          "$event"."$ordinal"::text)::text
        from "$events" "$event"
        where "$event"."$number" = (select "$cut"."$number" from "$cut")
      ) cut,
      (select "$answer"."$lines" from "$answer")::text lines,
      (select "$answer"."$large" from "$answer")::text large
    ${compileFromSettings(sql, settings)}`;
}

/**
 * Compiles the entries after the position, in order: first the rest of what the snapshot of an
 * unfinished page saw, then everything else. Of each part, no more are read than a page can need.
 */
function compileEntries(
  sql: Sql,
  { plan, position: { seen, partial }, feed, events }: {
    readonly plan: ChangesPlan;
    readonly position: LogPosition;
    readonly feed: number;
    readonly events: Fragment;
  },
): Fragment {
  const target = partial?.snapshot ?? seen;
  const { xid, seq } = partial?.place ?? { xid: "0", seq: "0" };
  const read = (phase: Fragment, condition: Fragment) =>
    sql`(
      select ${phase} "$phase", "$log".xid, "$log".seq, "$log".amount, "$log".keys ${
      hidesRows(plan) ? sql`, "$log".images` : sql``
    }
      from rowgate.changes "$log"
      where "$log".feed = ${String(feed)}::text::int4
        and "$log".tenant = ${tenantInLog(plan.scope)}::text
        and ${condition}
      order by "$log".xid, "$log".seq
      limit ${events} + 1
    )`;
  const next = (snapshot: LogSnapshot) => sql`${snapshot.next}::text::xid8`;
  const running = (snapshot: LogSnapshot) =>
    sql`any(${printArray(snapshot.running)}::text::xid8[])`;
  const inTarget = sql`"$log".xid < ${next(target)} and not ("$log".xid = ${running(target)})
    and ("$log".xid, "$log".seq) >= (${xid}::text::xid8, ${seq}::text::int8)`;
  const first = sql`0`;
  const second = sql`1`;
  const parts = [
    read(second, sql`"$log".xid = ${running(target)}`),
    read(second, sql`"$log".xid >= ${next(target)}`),
  ];
  if (partial !== undefined) {
    parts.unshift(
      read(first, sql`"$log".xid = ${running(seen)} and ${inTarget}`),
      read(first, sql`"$log".xid >= ${next(seen)} and ${inTarget}`),
    );
  }
  return parts.length === 2
    ? sql`${parts[0]!} union all ${parts[1]!}`
    : sql`${parts[0]!} union all ${parts[1]!} union all ${parts[2]!} union all ${parts[3]!}`;
}

/**
 * Compiles whether clients saw the row of an `"$event"` before it was changed: whether its image matches
 * the row filter. Only then is a row that is out of sight now a delete; any other one they never had.
 * @see CH25
 */
function compileSeen(sql: Sql, { table, scope: { only } }: ChangesPlan): Fragment {
  const columns = imagesOf(table).map((column) =>
    sql`${literal(sql, column.identifier)} ${literal(sql, column.cast)}`
  );
  // Without an image, nothing of the row matters.
  const parts = columns.length === 0 ? [] : [sql`"$event"."$image" is not null`];
  const match = (condition: Fragment) =>
    columns.length === 0 ? sql`(${condition})` : sql`exists (
        select from json_to_record("$event"."$image") "$row"(${join(sql, ",", columns)})
        where ${condition}
      )`;
  if (only !== undefined) parts.push(match(compilePredicate(sql, only)));
  const condition = table.rowSecurity?.condition;
  if (condition !== undefined) {
    parts.push(match(literal(sql, condition)));
  }
  return join(sql, "and", parts);
}

/** Reports whether clients may not see all rows of their tenant. */
function hidesRows({ table, scope: { only } }: ChangesPlan): boolean {
  return only !== undefined || table.rowSecurity?.condition !== undefined;
}

/** Compiles the columns of the key, from its text, or from a JSON array if there are several. */
function compileKeys(sql: Sql, { table: { primaryKey } }: ChangesPlan): Fragment {
  return join(
    sql,
    ",",
    primaryKey.map((column, place) => {
      const text = primaryKey.length === 1
        ? sql`"$first"."$key"`
        : sql`("$first"."$key"::json ->> ${String(place)}::text::int4)`;
      return sql`${text}::${literal(sql, column.cast)} ${literal(sql, column.identifier)}`;
    }),
  );
}
