import type { Column, SqlText } from "../../catalogue/catalogue.ts";
import { planZones, type Zone } from "../plan/after.ts";
import type { Predicate } from "../plan/predicate.ts";
import type { ContinuedPlan, QueryPlan } from "../plan/query_plan.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileZoneBehind, compileZones } from "./after.ts";
import { compileFirstLimit } from "./custom_plan.ts";
import { compileColumn, join, literal } from "./fragment.ts";
import { compileNeeded, compileOrder } from "./order.ts";
import { isShort } from "./record.ts";

/** The parts that a continued page is read from, except for the condition of where it starts. */
export interface ContinuedParts extends Record<"rows" | "offset", Fragment> {
  /** True: the rows are those of `$matched`, which has no index. */
  readonly matched: boolean;
}

/** Most zones that are read separately; each repeats the filters. */
const MAX_ZONES = 8;
/** Most characters of filter values that are repeated for each zone. */
const MAX_REPEATED_CHARACTERS = 16_384;

/**
 * Compiles the common table expression `$read`: the rows of the page and one more, which shows
 * whether there is a next page.
 *
 * If an index has the order, the zones after the last row are read one by one, the nearest first, and
 * only as many as the page needs. A single OR would make Postgres read all rows that are equal in the
 * first sort key. Before a zone is read, the rows of those before it are counted: it is skipped if
 * they fill the page.
 * @see docs/decisions/0018-pages.md
 */
export function compileRead(
  sql: Sql,
  plan: ContinuedPlan,
  { rows, offset, matched }: ContinuedParts,
): Fragment[] {
  const { order, after } = plan.continued;
  const needed = compileNeeded(sql, plan);
  const expression = (name: Fragment, source: Fragment) => {
    const begin = after === undefined ? offset : undefined;
    return sql`${name} as materialized (${compileFirst(sql, plan, { source, needed, begin })})`;
  };
  if (after === undefined) return [expression(sql`"$read"`, rows)];
  const zones = planZones(order, after);
  if (matched || !areReadApart(zones, plan)) {
    const behind = compileZones(sql, zones);
    const source = matched ? sql`${rows} where ${behind}` : sql`${rows} and ${behind}`;
    return [expression(sql`"$read"`, source)];
  }
  const limit = compileMore(sql, plan);
  const names = zones.map((_, at) => literal(sql, `"$zone${at + 1}"` as SqlText));
  const parts = zones.map((zone, at) => {
    const before = names.slice(0, at).map((name) => sql`(select count(*) from ${name})`);
    const isNeeded = at === 0 ? sql`` : sql`and ${join(sql, "+", before)} < ${limit}`;
    return expression(names[at]!, sql`${rows} and ${compileZoneBehind(sql, zone)} ${isNeeded}`);
  });
  const all = join(sql, "union all", names.map((name) => sql`select * from ${name}`));
  const read = sql`
    "$read" as materialized (
      select * from (${all}) "$row" ${compileOrder(sql, plan)} limit ${limit}
    )`;
  return [...parts, read];
}

/**
 * Compiles the first rows of a source, one more than the page has.
 *
 * The limit is a parameter. A generic plan assumes that it is a tenth of the rows and looks
 * expensive, so Postgres would plan the statement each time. Without filters, one plan suits all
 * values: there a constant limit inside shows that there are few rows, and the generic plan is used.
 * 201 is MAX_ROWS_PER_PAGE + 1.
 */
function compileFirst(
  sql: Sql,
  plan: ContinuedPlan,
  { source, needed, begin }: {
    readonly source: Fragment;
    readonly needed: Fragment;
    readonly begin: Fragment | undefined;
  },
): Fragment {
  const order = compileOrder(sql, plan);
  const limit = compileMore(sql, plan);
  const first = sql`select ${needed} from ${source} ${order}`;
  if (plan.predicate === undefined && (begin === undefined || plan.page === 1)) {
    return sql`select * from (${first} limit 201) "$row" ${order} limit ${limit}`;
  }
  return begin === undefined
    ? sql`${first} limit ${compileFirstLimit(sql, plan, limit)}`
    : sql`${first} limit ${compileFirstLimit(sql, plan, limit)} offset ${begin}`;
}

function areReadApart(zones: readonly Zone[], { predicate, sort, table }: QueryPlan): boolean {
  return zones.length > 1 && zones.length <= MAX_ZONES &&
    table.orderedByIndex.has(sort[0]!.column.identifier) &&
    (predicate === undefined || countCharacters(predicate) <= MAX_REPEATED_CHARACTERS);
}

function countCharacters(predicate: Predicate): number {
  switch (predicate.kind) {
    case "and":
    case "or":
      return predicate.items.reduce((sum, item) => sum + countCharacters(item), 0);
    case "compare":
      return predicate.value.text.length;
    case "between":
      return predicate.low.text.length + predicate.high.text.length;
    case "member":
      return predicate.values.reduce((sum, { text }) => sum + text.length, 0);
    case "like":
      return predicate.pattern.length;
    case "contains":
      return predicate.value.text.length;
    case "null":
      return 0;
  }
}

/**
 * Compiles where the next page starts: the texts of the sort keys in the last row of the page, as a
 * JSON array; NULL if there is no next page. A text that is far too long for a page token is cut off,
 * so that the result stays small.
 */
export function compileNext(sql: Sql, plan: ContinuedPlan): Fragment {
  const { perPage, continued: { order } } = plan;
  const values = join(sql, ",", order.map(({ column }) => compileText(sql, column)));
  const last = sql`${String(perPage - 1)}::text::int8`;
  return sql`
    case
      when (select count(*) from "$read") = ${compileMore(sql, plan)}
      then (
        select to_json(array[${values}])::text
        from "$read" "$row" ${compileOrder(sql, plan)}
        limit 1 offset ${last}
      )
    end`;
}

/** More characters than fit into a page token. */
const CUT_CHARACTERS = 5000;

function compileText(sql: Sql, column: Column): Fragment {
  const text = sql`${compileColumn(sql, column)}::text`;
  return isShort(column) ? text : sql`left(${text}, ${String(CUT_CHARACTERS)}::text::int4)`;
}

function compileMore(sql: Sql, { perPage }: QueryPlan): Fragment {
  return sql`${String(perPage + 1)}::text::int8`;
}
