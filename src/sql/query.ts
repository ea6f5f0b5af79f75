import type { Fragment, PendingQuery, Sql } from "../postgres/driver.ts";
import type { QueryPlan } from "../plan/query_plan.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileJudgement } from "./check_values.ts";
import { compileBytes, compileOutput, compileSmall } from "./record.ts";
import { compileWhere } from "./predicate.ts";
import { compileFromSettings, compileSettings, type Setting } from "./settings.ts";

/** The one row of a query's result: texts, passed through as they are. */
export interface PageRow {
  /** Rows that match across all pages, as digits; null when not counted, or too many to be read at once. */
  readonly total: string | null;
  /** Rows on the page, as digits. */
  readonly rows: string;
  /** The page, a JSON array printed by Postgres; null when it is larger than a page may be, or `large`. */
  readonly records: string | null;
  /** Rows that may be large, as digits. Where there are any the page is to be read anew, measured. */
  readonly large?: string | null;
}

/** What Postgres counts as part of a value besides its bytes. */
const HEADER_BYTES = 4;

/**
 * Compiles a query into one statement: the page printed as JSON by Postgres, and the total from the
 * same snapshot. A page that is not full knows the total, so it is counted only when the page is full.
 * What is planned to be read at once is kept, then sorted and counted; of more rows than that the
 * total is null, and the page not to be used.
 * @see Q85, Q87, P21
 * @see docs/decisions/0182-one-reading.md
 * @see docs/decisions/0185-a-page-is-not-copied.md
 * @see docs/decisions/0203-memory-of-a-page.md
 */
export function compileSelect(
  sql: Sql,
  plan: QueryPlan,
  settings: readonly Setting[] = [],
): PendingQuery<PageRow[]> {
  const rows = compileRows(sql, plan);
  const from = plan.atOnce ? sql`"$m" "$t"` : rows;
  const limit = sql`${String(plan.perPage)}::text::int8`;
  const offset = sql`${String(BigInt(plan.page - 1) * BigInt(plan.perPage))}::text::int8`;
  const ordered = sql`${from}${compileOrder(sql, plan)} limit ${limit} offset ${offset}`;
  const output = sql`select ${compileOutput(sql, plan)} from ${
    plan.keysFirst ? compileKeysFirst(sql, plan, ordered) : ordered
  }`;
  const small = plan.measured
    ? undefined
    : compileSmall(sql, plan, plan.maxPageBytes / plan.perPage);
  const page = plan.measured ? compileMeasured(sql, plan) : compilePage(sql, { output, small });
  const kept = [
    ...(plan.atOnce ? [compileMatches(sql, plan, rows)] : []),
    ...(plan.measured ? [sql`"$q" as materialized (${output})`] : []),
  ];
  const { before, read, source } = placePage(sql, { settings, kept, page });
  const total = plan.count ? compileTotal(sql, plan, { from, limit, offset, read }) : sql`null`;
  const maxBytes = sql`${String(plan.maxPageBytes + HEADER_BYTES)}::text::int8`;
  const records = read(sql`case when pg_column_size("$j") <= ${maxBytes} then "$j" end`);
  const judgement = compileJudgement(sql, plan.predicate);
  return sql<PageRow[]>`${before}select ${total}::text total, ${
    read(sql`"$n"`)
  }::text "rows", ${records} records${
    small === undefined ? sql`` : sql`, ${read(sql`"$b"`)}::text large`
  }${judgement === undefined ? sql`` : sql`, (${judgement}) judged`}${source}`;
}

/** Where the page stands: what comes before the outermost SELECT, how parts of it are read, FROM what. */
interface Placed {
  readonly before: Fragment;
  readonly read: (part: Fragment) => Fragment;
  readonly source: Fragment;
}

/**
 * Places the page in FROM; behind settings before the SELECT, read by scalar subqueries, though a page
 * that is kept is copied each time it is read.
 */
function placePage(
  sql: Sql,
  { settings, kept, page }: {
    readonly settings: readonly Setting[];
    readonly kept: readonly Fragment[];
    readonly page: Fragment;
  },
): Placed {
  if (settings.length === 0) {
    return {
      before: kept.length > 0 ? sql`with ${join(sql, ",", kept)} ` : sql``,
      read: (part) => part,
      source: sql` from ${page} "$p"`,
    };
  }
  return {
    before: sql`with ${compileSettings(sql, settings)}${
      join(sql, ",", [...kept, sql`"$p" as materialized ${page}`])
    } `,
    read: (part) => sql`(select ${part} from "$p")`,
    source: compileFromSettings(sql, settings),
  };
}

/** Rows that may be large are counted, not printed: then the page is read anew, measured. */
function compilePage(
  sql: Sql,
  { output, small }: { readonly output: Fragment; readonly small: Fragment | undefined },
): Fragment {
  return small === undefined
    ? sql`(select count(*) "$n", coalesce(json_agg("$r"), '[]') "$j" from (${output}) "$r")`
    : sql`(select count(*) "$n", count(*) filter (where not (${small})) "$b", coalesce(json_agg("$r") filter (where ${small}), '[]') "$j" from (${output}) "$r")`;
}

/** The rows are kept as they are stored; nothing is printed unless the sizes of all values are known. */
function compileMeasured(sql: Sql, plan: QueryPlan): Fragment {
  const bytes = compileBytes(sql, plan);
  const limit = sql`${String(plan.maxPageBytes)}::text::int8`;
  return sql`(select count(*) "$n", case when (${bytes}) <= ${limit} then (select coalesce(json_agg("$r"), '[]') from "$q" "$r") end "$j" from "$q")`;
}

function compileRows(sql: Sql, plan: Pick<QueryPlan, "table" | "scope" | "predicate">): Fragment {
  return sql`${compileTable(sql, plan.table)} where ${compileWhere(sql, plan)}`;
}

/** The rows that match, and one more than may be: of the columns that the page and its order need. */
function compileMatches(sql: Sql, plan: QueryPlan, rows: Fragment): Fragment {
  // MAX_ROWS_AT_ONCE + 1; as a parameter it would be any number to the planner.
  return sql`"$m" as materialized (select ${compileNeeded(sql, plan)} from ${rows} limit 10001)`;
}

function compileNeeded(sql: Sql, { columns, sort, table }: QueryPlan): Fragment {
  const needed = new Set([
    ...columns.map(({ identifier }) => identifier),
    ...sort.map(({ column }) => column.identifier),
    ...table.keyOrder,
  ]);
  return join(sql, ",", [...needed].map((identifier) => compileColumn(sql, { identifier })));
}

/**
 * The keys of the page, which its index gives, and then each row by its key: `limit 1` keeps the
 * planner, who does not know how few there are, from reading the table to join them.
 */
function compileKeysFirst(sql: Sql, plan: QueryPlan, page: Fragment): Fragment {
  const columns = plan.table.keyOrder.map((identifier) => compileColumn(sql, { identifier }));
  const same = plan.table.keyOrder.map((identifier, place) =>
    sql`${columns[place]!} = "$k".${literal(sql, identifier)}`
  );
  const row = compileRows(sql, { ...plan, predicate: undefined });
  return sql`(select ${join(sql, ",", columns)} from ${page}) "$k" cross join lateral (select ${
    compileNeeded(sql, plan)
  } from ${row} and ${join(sql, "and", same)} limit 1) "$t"${compileOrder(sql, plan)}`;
}

function compileTotal(
  sql: Sql,
  { atOnce }: QueryPlan,
  { from, limit, offset, read }:
    & Record<"from" | "limit" | "offset", Fragment>
    & Pick<Placed, "read">,
): Fragment {
  if (atOnce) return sql`(select case when count(*) <= 10000 then count(*) end from ${from})`;
  return read(
    sql`case when "$n" < ${limit} and ("$n" > 0 or ${offset} = 0) then ${offset} + "$n" else (select count(*) from ${from}) end`,
  );
}

/** The primary key comes last, so that paging is stable; without a sort no order is added. */
function compileOrder(sql: Sql, { sort, table }: QueryPlan): Fragment {
  if (sort.length === 0) return sql``;
  const sorted = new Set(sort.map(({ column }) => column.identifier));
  const keys = sort.map(({ column, descending }) => {
    const value = compileColumn(sql, column);
    return descending ? sql`${value} desc` : sql`${value}`;
  });
  const last = table.keyOrder.filter((identifier) => !sorted.has(identifier))
    .map((identifier) => compileColumn(sql, { identifier }));
  return sql` order by ${join(sql, ",", [...keys, ...last])}`;
}
