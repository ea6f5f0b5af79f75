import type { ContinuedPlan, QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { compileValueCheck } from "./check_values.ts";
import { compileNext, compileRead } from "./continued.ts";
import { compileFirstLimit, compilePlanCondition } from "./custom_plan.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileComparison } from "./operator.ts";
import { compileNeeded, compileOrder } from "./order.ts";
import { compileWhere } from "./predicate.ts";
import { compileBytes, compileOutput, compileSmall } from "./record.ts";
import { compileFromSettings, compileSettings, type Setting } from "./settings.ts";
import { compileTotal } from "./total.ts";
import { compileVersion, readsVersions } from "./version.ts";

/** The one row of a query's result: texts, which are passed through unchanged. */
export interface PageRow {
  /** Rows that match across all pages, as digits; null when not counted, or too many to be kept. */
  readonly total: string | null;
  /** Rows on the page, as digits. */
  readonly rows: string;
  /** The page, a JSON array printed by Postgres; null if it is too large. */
  records: string | null;
  /**
   * Number of records that may be large, as digits. If there are any, the page is read again and
   * measured.
   */
  readonly large?: string | null;
  /** The start of the next page, a JSON array of texts; null on the last page. */
  readonly next?: string | null;
  /** The version of a row that matches; null where it has none. */
  readonly tag?: string | null;
}

/** Bytes of a value's header, which Postgres counts as part of its size. */
const HEADER_BYTES = 4;

/**
 * Compiles a query into one statement: the page, printed as JSON by Postgres, and the total, both of
 * one snapshot.
 *
 * With `oneReading` the matching rows are materialised, then sorted and counted. If there are too
 * many, the total is null and the page must not be used.
 * @see Q85, Q87, P21
 * @see docs/decisions/0018-pages.md
 */
export function compileQuery(
  sql: Sql,
  plan: QueryPlan,
  settings: readonly Setting[] = [],
): PendingQuery<PageRow[]> {
  const rows = compileRows(sql, plan);
  const from = plan.oneReading ? sql`"$matched" "$row"` : rows;
  const limit = sql`${String(plan.perPage)}::text::int8`;
  const offset = sql`${String(BigInt(plan.page - 1) * BigInt(plan.perPage))}::text::int8`;
  const { continued } = plan;
  const onPage = continued === undefined
    ? sql`
      ${from} ${compileOrder(sql, plan)} limit ${
      compileFirstLimit(sql, plan, limit)
    } offset ${offset}`
    : sql`"$read" "$row" ${compileOrder(sql, plan)} limit ${limit}`;
  const following = continued && compileFollowing(sql, { ...plan, continued }, { from, offset });
  const output = sql`
    select ${compileOutput(sql, plan)}
    from ${plan.keysFirst ? compileKeysFirst(sql, plan, onPage) : onPage}`;
  const small = plan.measured
    ? undefined
    : compileSmall(sql, plan, plan.maxPageBytes / plan.perPage);
  const page = plan.measured
    ? compileMeasured(sql, plan, following)
    : compilePage(sql, { output, small, following });
  const { before, read, source } = placePage(sql, {
    settings,
    page,
    condition: compilePlanCondition(sql, plan),
    kept: [
      ...(plan.oneReading ? [compileMatched(sql, plan, rows)] : []),
      ...(following?.read ?? []),
      ...(plan.measured ? [sql`"$unprinted" as materialized (${output})`] : []),
    ],
  });
  const maxBytes = sql`${String(plan.maxPageBytes + HEADER_BYTES)}::text::int8`;
  return sql<PageRow[]>`
    ${before}
    select
      ${compileTotal(sql, plan, { from, limit, offset, read })}::text total,
      ${read(sql`"$count"`)}::text "rows",
      ${read(sql`case when pg_column_size("$json") <= ${maxBytes} then "$json" end`)} records
      ${small === undefined ? sql`` : sql`, ${read(sql`"$large"`)}::text large`}
      ${following === undefined ? sql`` : sql`, ${read(sql`"$next"`)} "next"`}
      ${
    readsVersions(plan)
      ? sql`, (select ${compileVersion(sql, plan)} from ${rows} limit 1) tag`
      : sql``
  }
      ${compileValueCheck(sql, plan.predicate)}
    ${source}`;
}

/** The parts of the statement of a continued page. */
interface Following {
  readonly read: readonly Fragment[];
  /** With its comma. */
  readonly next: Fragment;
}

function compileFollowing(
  sql: Sql,
  plan: ContinuedPlan,
  { from, offset }: Record<"from" | "offset", Fragment>,
): Following {
  const read = compileRead(sql, plan, { rows: from, offset, matched: plan.oneReading });
  return { read, next: sql`, ${compileNext(sql, plan)} "$next"` };
}

/** Where the page is in the statement. */
interface PlacedPage {
  /** What comes before the outermost SELECT. */
  readonly before: Fragment;
  /** Compiles how that SELECT reads a column of the page. */
  readonly read: (column: Fragment) => Fragment;
  /** What that SELECT reads from. */
  readonly source: Fragment;
}

/**
 * Places the page in FROM. With settings it must be before the SELECT and read by scalar subqueries,
 * although Postgres copies a materialised page each time it is read.
 */
function placePage(
  sql: Sql,
  { settings, condition, kept, page }: {
    readonly settings: readonly Setting[];
    readonly condition: Fragment | undefined;
    readonly kept: readonly Fragment[];
    readonly page: Fragment;
  },
): PlacedPage {
  if (settings.length === 0) {
    return {
      before: kept.length > 0 ? sql`with ${join(sql, ",", kept)}` : sql``,
      read: (column) => column,
      source: condition === undefined
        ? sql`from ${page} "$page"`
        : sql`from ${page} "$page" where ${condition}`,
    };
  }
  const all = [...kept, sql`"$page" as materialized ${page}`];
  const from = compileFromSettings(sql, settings);
  return {
    before: sql`with ${compileSettings(sql, settings)} ${join(sql, ",", all)}`,
    read: (column) => sql`(select ${column} from "$page")`,
    source: condition === undefined ? from : sql`${from} and ${condition}`,
  };
}

/**
 * Compiles the page. Records that may be large are counted and not printed; the page is then read
 * again and measured.
 */
function compilePage(
  sql: Sql,
  { output, small, following }: {
    readonly output: Fragment;
    readonly small: Fragment | undefined;
    readonly following: Following | undefined;
  },
): Fragment {
  const next = following?.next ?? sql``;
  if (small === undefined) {
    return sql`
      (
        select count(*) "$count", coalesce(json_agg("$record"), '[]') "$json" ${next}
        from (${output}) "$record"
      )`;
  }
  return sql`
    (
      select
        count(*) "$count",
        count(*) filter (where not (${small})) "$large",
        coalesce(json_agg("$record") filter (where ${small}), '[]') "$json"
        ${next}
      from (${output}) "$record"
    )`;
}

/**
 * Compiles the page in two steps: the rows are kept as they are stored, and printed only if their
 * measured size allows it.
 */
function compileMeasured(
  sql: Sql,
  plan: QueryPlan,
  following: Following | undefined,
): Fragment {
  const limit = sql`${String(plan.maxPageBytes)}::text::int8`;
  return sql`
    (
      select
        count(*) "$count",
        case
          when (${compileBytes(sql, plan)}) <= ${limit}
          then (select coalesce(json_agg("$record"), '[]') from "$unprinted" "$record")
        end "$json"
        ${following?.next ?? sql``}
      from "$unprinted"
    )`;
}

function compileRows(sql: Sql, plan: Pick<QueryPlan, "table" | "scope" | "predicate">): Fragment {
  return sql`${compileTable(sql, plan.table)} where ${compileWhere(sql, plan)}`;
}

/**
 * Compiles the matching rows, with the columns that page and order need, up to one more than may be
 * kept.
 */
function compileMatched(sql: Sql, plan: QueryPlan, rows: Fragment): Fragment {
  // MAX_ROWS_KEPT + 1, as a constant that the planner knows.
  return sql`
    "$matched" as materialized (
      select ${compileNeeded(sql, plan)}
      from ${rows}
      limit 10001
    )`;
}

/**
 * Compiles a page that reads its keys from their index first, and then each row by its key. The
 * planner does not know how few keys there are; `limit 1` keeps it from reading the whole table for a
 * join.
 */
function compileKeysFirst(sql: Sql, plan: QueryPlan, onPage: Fragment): Fragment {
  const columns = plan.table.keyOrder.map((column) => compileColumn(sql, column));
  const same = plan.table.keyOrder.map((column, place) =>
    compileComparison(sql, "=", {
      column,
      left: columns[place]!,
      right: sql`"$key".${literal(sql, column.identifier)}`,
    })
  );
  return sql`
    (
      select ${join(sql, ",", columns)}
      from ${onPage}
    ) "$key"
    cross join lateral (
      select ${compileNeeded(sql, plan)}
      from ${compileRows(sql, { ...plan, predicate: undefined })} and ${join(sql, "and", same)}
      limit 1
    ) "$row"
    ${compileOrder(sql, plan)}`;
}
