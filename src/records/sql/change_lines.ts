import type { Column } from "../../catalogue/catalogue.ts";
import type { ChangesPlan } from "../plan/changes_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileComparison } from "./operator.ts";
import { compileWhere } from "./predicate.ts";
import { compileBytes, compileOutput, compileSmall } from "./record.ts";
import type { Setting } from "./settings.ts";

/** The one row of a statement that reads changes; all values are texts. */
export interface ChangesRow {
  /** JSON of `rowgate.changes_moment()`. */
  readonly moment: string;
  /** JSON of `rowgate.changes_shape()`; null: there is no such feed. */
  readonly shape: string | null;
  /** `true` if the log entry that the position refers to is unchanged, otherwise `false`. */
  readonly anchored: string;
  /** Phase, xid, seq and ordinal of the last key that was read from the log, if more follow. */
  readonly cut?: string | null;
  /** The key of the last row of the snapshot, if more follow. */
  readonly last?: string | null;
  /** JSON array of texts, each one change in JSON. */
  readonly lines?: string;
  /** Number of records that may be too large, as digits; these are missing in `lines`. */
  readonly large?: string;
}

/** An entry of the log, by which a restored or replaced database is recognised. */
export type LogAnchor = readonly [xid: string, seq: string, microseconds: string];

/** What every statement of a feed is compiled from. */
export interface FeedStatement {
  readonly plan: ChangesPlan;
  readonly feed: number;
  /** An entry that must be unchanged, unless it was pruned. */
  readonly anchor: LogAnchor | undefined;
  /** True: the records are measured before they are printed. */
  readonly measured: boolean;
  readonly settings: readonly Setting[];
}

/** Compiles the state of log and feed: three columns of a SELECT. */
export function compileState(
  sql: Sql,
  { plan, feed, anchor }: Pick<FeedStatement, "plan" | "feed" | "anchor">,
): Fragment {
  const [xid, seq, at] = anchor ?? ["0", "0", "0"];
  return sql`
    (select rowgate.changes_moment())::text moment,
    (
      select rowgate.changes_shape(${String(feed)}::text::int4,
        ${plan.table.identifier}::text::regclass::oid)
    )::text shape,
    (
      select exists (
        select from rowgate.changes "$log"
        where "$log".xid = ${xid}::text::xid8 and "$log".seq = ${seq}::text::int8
          and (extract(epoch from "$log".at) * 1000000)::int8 = ${at}::text::int8
      )
    )::text anchored`;
}

/** Compiles the row of a `"$keys"`, as it is now. */
export function compileTarget(sql: Sql, { table, scope }: ChangesPlan): Fragment {
  const same = table.primaryKey.map((column) =>
    compileComparison(sql, "=", {
      column,
      left: compileColumn(sql, column),
      right: sql`"$keys".${literal(sql, column.identifier)}`,
    })
  );
  return sql`
    from ${compileTable(sql, table)}
    where ${compileWhere(sql, { scope, predicate: undefined })} and ${join(sql, "and", same)}
    limit 1`;
}

/**
 * Compiles the changes of the rows in `"$keys"`, whose columns are a number and the key: a table
 * `"$answer"` of one row with the JSON texts in their order, and how many records are too large.
 */
export function compileLines(
  sql: Sql,
  plan: ChangesPlan,
  { row, measured, onlySeen = false }: {
    readonly row: Fragment;
    readonly measured: boolean;
    /** True: `"$keys"` also says which rows clients saw before, and no other one is a delete. */
    readonly onlySeen?: boolean;
  },
): Fragment {
  const small = measured
    ? sql`(select "$measure"."$fits" from "$measure")`
    : compileSmall(sql, plan, plan.maxPageBytes / plan.limit) ?? sql`true`;
  return sql`
    ${measured ? compileMeasure(sql, plan, row) : sql``}
    "$lines" as materialized (
      select "$keys"."$number", "$hit"."$large",
        concat('{"type":"', case when "$hit"."$there" then 'upsert' else 'delete' end,
          '","key":', "$name"."$json", ',"record":', coalesce("$hit"."$json"::text, 'null'), '}')
          "$line"
      from "$keys"
      cross join lateral (
        select row_to_json("$key") "$json"
        from (select ${compileKeyOutput(sql, plan)}) "$key"
      ) "$name"
      left join lateral (
        select true "$there", not (${small}) "$large",
          case when ${small} then row_to_json("$record") end "$json"
        from (select ${compileOutput(sql, plan)} ${row}) "$record"
      ) "$hit" on true ${onlySeen ? sql`where "$hit"."$there" or "$keys"."$seen"` : sql``}
    ),
    "$answer" as materialized (
      select coalesce(json_agg("$lines"."$line" order by "$lines"."$number"), '[]') "$lines",
        count(*) filter (where "$lines"."$large") "$large"
      from "$lines"
    )`;
}

/** Compiles whether all records together are small enough to be printed. */
function compileMeasure(sql: Sql, plan: ChangesPlan, row: Fragment): Fragment {
  const columns = join(sql, ",", plan.columns.map((column) => compileColumn(sql, column)));
  return sql`
    "$unprinted" as materialized (
      select ${compileOutput(sql, plan)}
      from "$keys"
      cross join lateral (select ${columns} ${row}) "$row"
    ),
    "$measure" as materialized (
      select (${compileBytes(sql, plan)}) <= ${String(plan.maxPageBytes)}::text::int8 "$fits"
    ),`;
}

/** Compiles the key, printed as in a record. */
function compileKeyOutput(
  sql: Sql,
  { table: { primaryKey }, wideNumbersAsText }: ChangesPlan,
): Fragment {
  const print = ({ identifier, alias, wideNumber }: Column) => {
    const name = literal(sql, identifier);
    if (wideNumbersAsText && wideNumber) {
      return sql`"$keys".${name}::text ${literal(sql, alias ?? identifier)}`;
    }
    return alias === undefined ? sql`"$keys".${name}` : sql`"$keys".${name} ${literal(sql, alias)}`;
  };
  return join(sql, ",", primaryKey.map(print));
}
