import type { SqlText } from "../../catalogue/catalogue.ts";
import type { Assignment } from "../plan/assignment.ts";
import type { UpsertPlan, UpsertRecord } from "../plan/upsert_plan.ts";
import type { Fragment, PendingQuery, Row, Sql } from "../../database/postgres/driver.ts";
import { compileAsWritten } from "./as_written.ts";
import { compileChangedColumns, compileSet } from "./assignments.ts";
import { compileShown } from "./create.ts";
import { compileColumn, compileTable, join, literal } from "./fragment.ts";
import { compileComparison } from "./operator.ts";
import { compileListed, compileWhere } from "./predicate.ts";
import { listValues, type RecordGroup } from "./record_groups.ts";

/** The one row of a look for the rows of an upsert. */
export interface FoundRows extends Row {
  /** The place of the first record with the match values of one before it, as digits; or null. */
  readonly repeated: string | null;
  /** The places of the records whose row was found, as JSON; null if there is none. */
  readonly found: string | null;
}

/** The one row of the update of rows that were found. */
export interface UpdatedRows extends Row {
  /** The rows as they were found, as a JSON list of {@link FoundPart}; null if there is none. */
  readonly found: string | null;
  /** Those that were written, as a JSON list of {@link WrittenPart}; null if there is none. */
  readonly written: string | null;
}

/** The place of a record, what the response shows of its row, and the key to read it again by. */
export type WrittenPart = [
  place: number,
  key: string | null,
  record: string | null,
  reread: string | null,
];

/** The same of a row that was found. */
export type FoundPart = [
  ...WrittenPart,
  differs: boolean,
  /** For each value that cannot be updated, whether it differs. */
  fixed: boolean[],
];

/**
 * Compiles a look for the rows that have the match values of records, which locks them, in the order of
 * the key: so two upserts of the same rows cannot wait for each other. It finds records with the same
 * match values, too. The values get the collation of the column from a union with it.
 * @see UP5, UP6
 */
export function compileFindMatches(
  sql: Sql,
  plan: UpsertPlan,
  records: readonly UpsertRecord[],
): PendingQuery<FoundRows[]> {
  const { match, scope, table } = plan;
  const own = { scope, predicate: undefined };
  const stored = match.map((column, place) =>
    sql`${compileColumn(sql, column)} ${nameMatch(sql, place)}`
  );
  const values = match.map((_, place) => sql`"$sent".${nameMatch(sql, place)}`);
  return sql<FoundRows[]>`
    with "$sent" as materialized (
      select null::int4 "$place", ${join(sql, ",", stored)}
      from ${compileTable(sql, table)}
      where ${compileWhere(sql, own)} and false
      union all
      ${join(sql, "union all", compileSentMatches(sql, records))}
    ),
    "$found" as materialized (
      select "$sent"."$place"
      from "$sent", ${compileTable(sql, table)}
      where ${compileWhere(sql, own, "joined")} and ${join(sql, "and", compileMatch(sql, plan))}
      order by ${join(sql, ",", match.map((column) => compileColumn(sql, column)))}
      for no key update of "$row"
    )
    select
      (
        select min("$numbered"."$place")
        from (
          select
            "$sent"."$place",
            row_number() over (
              partition by ${join(sql, ",", values)} order by "$sent"."$place"
            ) "$number"
          from "$sent"
        ) "$numbered"
        where "$numbered"."$number" > 1
      )::text repeated,
      (select json_agg("$place") from "$found")::text found`;
}

/** Compiles the match values of records: a SELECT for those of which the same have an offset from UTC. */
function compileSentMatches(
  sql: Sql,
  records: readonly UpsertRecord[],
): Fragment[] {
  const alike = new Map<string, UpsertRecord[]>();
  for (const record of records) {
    const zoned = record.matched.map(({ value }) => value?.zoned === true).join();
    alike.set(zoned, [...alike.get(zoned) ?? [], record]);
  }
  return [...alike.values()].map((some) => {
    const columns = listMatch(some[0]!);
    const list = some.map((record) => [record.place, ...listValues(record, columns)]);
    const values = columns.map((column, place) =>
      compileListed(sql, compileItem(sql, place + 1), column)
    );
    return sql`
      select ${join(sql, ",", [sql`${compileItem(sql, 0)}::int4`, ...values])}
      from json_array_elements(${JSON.stringify(list)}::text::json) "$list"("$value")`;
  });
}

/** Compiles the value of `"$list"` at a place, as text. */
function compileItem(sql: Sql, place: number): Fragment {
  return sql`("$list"."$value" ->> ${String(place)}::text::int4)`;
}

/** Lists the match columns of a record, cast as they are stored: a number is rounded as a row has it. */
function listMatch({ matched }: Pick<UpsertRecord, "matched">) {
  return matched.map(({ column, value }) => ({
    column,
    zoned: value?.zoned === true,
    cast: column.storedCast,
  }));
}

function nameMatch(sql: Sql, place: number): Fragment {
  return literal(sql, `"$match${place}"` as SqlText);
}

/** Compiles the conditions that a row has the match values of `"$sent"`. */
function compileMatch(sql: Sql, { match }: UpsertPlan): Fragment[] {
  return match.map((column, place) =>
    compileComparison(sql, "=", {
      column,
      left: compileColumn(sql, column),
      right: sql`"$sent".${nameMatch(sql, place)}`,
    })
  );
}

/**
 * Compiles the update of rows that {@link compileFindMatches} has locked. A row that holds the values is
 * not written, nor is one that has another value in a column that cannot be updated.
 * @see UP7, UP8
 */
export function compileUpdateFound(
  sql: Sql,
  plan: UpsertPlan,
  { columns, records }: RecordGroup<UpsertRecord>,
): PendingQuery<UpdatedRows[]> {
  const { scope, table } = plan;
  const [{ updates, fixed, matched }] = records as [UpsertRecord];
  const compileNew = ({ column }: Assignment, cast: SqlText) => {
    const place = columns.findIndex((each) => each.column === column);
    const { zoned } = columns[place]!;
    const text = sql`("$sent"."$value" ->> ${String(place + 1)}::text::int4)`;
    return compileListed(sql, text, { column, zoned, cast });
  };
  const values = { assignments: updates, scope, table, compileNew };
  const differs = updates.length === 0 ? sql`false` : compileChangedColumns(sql, values);
  const differ = fixed.map((one) => compileChangedColumns(sql, { ...values, assignments: [one] }));
  const same = join(sql, "and", compileMatch(sql, plan));
  const own = { scope, predicate: undefined };
  const list = records.map((record) => [record.place, ...listValues(record, columns)]);
  const keys = listMatch({ matched }).map((each, number) => {
    const place = columns.findIndex(({ column }) => column === each.column) + 1;
    return sql`${compileListed(sql, compileItem(sql, place), each)} ${nameMatch(sql, number)}`;
  });
  const shown = compileShown(sql, plan);
  return sql<UpdatedRows[]>`
    with "$sent" as materialized (
      select ${compileItem(sql, 0)}::int4 "$place", ${join(sql, ",", keys)}, "$list"."$value"
      from json_array_elements(${JSON.stringify(list)}::text::json) "$list"("$value")
    ),
    "$found" as materialized (
      select
        "$sent"."$place", ${differs} "$differs",
        json_build_array(${differ.length === 0 ? sql`` : join(sql, ",", differ)}) "$fixed",
        ${shown}
      from "$sent", ${compileTable(sql, table)}
      where ${compileWhere(sql, own)} and ${same}
    )
    ${updates.length === 0 ? sql`` : compileWritten(sql, plan, { values, same, differs, differ })}
    select
      (
        select json_agg(json_build_array("$place", "key", "record", "reread", "$differs", "$fixed"))
        from "$found"
      )::text found,
      ${
    updates.length === 0 ? sql`null::text` : sql`(
        select json_agg(json_build_array("$place", "key", "record", "reread")) from "$written"
      )::text`
  } written`;
}

/** Compiles the common table expression that writes, with a comma before it. */
function compileWritten(
  sql: Sql,
  plan: UpsertPlan,
  { values, same, differs, differ }: {
    readonly values: Parameters<typeof compileSet>[1];
    readonly same: Fragment;
    readonly differs: Fragment;
    readonly differ: readonly Fragment[];
  },
): Fragment {
  const { table, scope } = plan;
  const own = { scope, predicate: undefined };
  const changes = join(sql, "and", [differs, ...differ.map((one) => sql`not ${one}`)]);
  return sql`,
    "$written" as (
      update ${compileTable(sql, table)}
      set ${compileSet(sql, values)}
      from "$sent"
      where ${compileWhere(sql, own, "locked")} and ${same} and ${changes}
      returning ${compileAsWritten(sql, plan)} "$held", "$sent"."$place", ${compileShown(sql, plan)}
    )`;
}
