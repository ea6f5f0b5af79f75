import type { Column, SqlText, Table } from "../../catalogue/catalogue.ts";
import { imagesOf } from "../../records/plan/row_filter.ts";
import { OWN_PATH } from "../../database/schema/statement.ts";
import { quoteText } from "../../basics/text/quote_text.ts";
import {
  describeMoved,
  describeMovedFunction,
  describeRowFunction,
  describeStatementFunction,
  describeTruncateFunction,
  type FeedTable,
} from "./feed_functions.ts";
import { quoteIdentifier, unquoteIdentifier } from "../../catalogue/quote_identifier.ts";

/** A table of the operator that gets a feed. */
export interface FeedTarget {
  readonly table: FeedTable;
  readonly partitioned: boolean;
  /** Partitions below the table, quoted and qualified, those with rows of their own and the others. */
  readonly partitions: readonly { readonly identifier: SqlText; readonly stored: boolean }[];
  /** Logical replication writes into it, or into one of its partitions. */
  readonly subscribed: boolean;
  /** Existing feeds of the table, which the new one replaces. */
  readonly replaced: readonly number[];
}

/**
 * The types that a key may have: their text is the same in every session, and equal values have equal
 * texts.
 */
const KEY_TYPES: ReadonlySet<string> = new Set(
  ("bool int2 int4 int8 oid numeric text varchar bpchar name uuid bytea date timestamp timestamptz " +
    "time").split(" "),
);
/** Returns why a table cannot have a feed; undefined if it can. @see CH2 */
export function explainNoFeed(table: Table): string | undefined {
  const { primaryKey, keyUnique, tenant, tenancy } = table;
  const images = imagesOf(table);
  const [first] = tenancy?.via ?? [];
  if (first !== undefined) {
    return `the tenant of its rows is that of ${first.table}, and a row that is deleted no longer says ` +
      "which one it belonged to";
  }
  if (tenancy !== undefined && tenant === undefined) return "its tenant is in several columns";
  // It would end the quotes of the functions.
  if (tenant?.name.includes("$")) return `its tenant column ${tenant.name} has a $ in its name`;
  // So would a column of the row filter.
  const named = images.find(({ identifier }) => identifier.includes("$"));
  if (named !== undefined) return `its row filter names the column ${named.name}, with a $`;
  if (primaryKey.length === 0) return "it has no primary key that clients can see";
  if (!keyUnique) {
    return "its key does not identify a row: it has child tables, or a part of its key is hidden";
  }
  const column = primaryKey.find((each) => !isKeyType(each));
  if (column === undefined) return undefined;
  return `its key has the column ${column.name} of type ${column.type}, whose text is not its identity`;
}

function isKeyType({ kind, baseType, deterministic }: Column): boolean {
  return deterministic && (kind === "enum" || kind !== "array" && KEY_TYPES.has(baseType));
}

/**
 * Returns the statements that enable the feed of a table, in order, for one transaction. They can be
 * printed and run by hand.
 * @see docs/decisions/0049-cursors-and-feeds.md
 */
export function planEnable(target: FeedTarget, feed: number): readonly string[] {
  const { table, partitions, partitioned, subscribed } = target;
  const { schema, name } = table.stored;
  const quoteName = ({ identifier }: { readonly identifier: SqlText }) =>
    quoteText(unquoteIdentifier(identifier));
  const names = table.primaryKey.map(quoteName).join(", ");
  const images = table.images.map(quoteName).join(", ");
  const readsOld = partitioned || images !== "";
  const tenant = table.tenant === undefined ? "null" : quoteName(table.tenant);
  return [
    OWN_PATH[0]!,
    // It waits for transactions that have written, so that none is older than the triggers.
    `lock table ${table.identifier} in share row exclusive mode`,
    ...target.replaced.flatMap(planDrop),
    `insert into rowgate.feeds (id, schema_name, table_name, tenant_column, key_columns${
      images === "" ? "" : ", image_columns"
    })
values (${feed}, ${quoteText(schema)}, ${quoteText(name)}, ${tenant}, array[${names}]${
      images === "" ? "" : `, array[${images}]`
    })`,
    describeStatementFunction(table, feed, { partitioned }),
    describeTruncateFunction(table, feed),
    `revoke all on function rowgate.changes_${feed}(), rowgate.changes_${feed}_truncate() from public`,
    ...planTriggers(table.identifier, feed, { stored: !partitioned, readsOld }),
    ...(readsOld ? [] : planMovedTrigger(table, feed)),
    ...(partitioned || subscribed ? planRowTrigger(target, feed) : []),
    ...partitions.flatMap(({ identifier, stored }) => [
      ...planTriggers(identifier, feed, { stored, readsOld }),
      ...(stored && !subscribed
        ? [`alter table ${identifier} disable trigger rowgate_changes_rows`]
        : []),
    ]),
    NOTIFY,
  ];
}

/** Returns the statements that disable feeds, in order, for one transaction. */
export function planDisable(feeds: readonly number[]): readonly string[] {
  return [OWN_PATH[0]!, ...feeds.flatMap(planDrop), NOTIFY];
}

/** Makes servers read their catalogue again. */
const NOTIFY = "select pg_catalog.pg_notify('rowgate_catalogue', '')";

function planDrop(feed: number): readonly string[] {
  return [
    ...["", "_truncate", "_row", "_moved"].map((suffix) =>
      `drop function if exists rowgate.changes_${feed}${suffix}() cascade`
    ),
    `delete from rowgate.feeds where id = ${feed}`,
  ];
}

function planTriggers(
  table: SqlText,
  feed: number,
  { stored, readsOld }: { readonly stored: boolean; readonly readsOld: boolean },
): readonly string[] {
  const updated = `referencing ${readsOld ? 'old table as "$old" ' : ""}new table as "$new"`;
  const events = [
    ["insert", "after insert", 'referencing new table as "$new"', ""],
    ["update", "after update", updated, ""],
    ["delete", "after delete", 'referencing old table as "$old"', ""],
    ...(stored ? [["truncate", "before truncate", "", "_truncate"]] : []),
  ];
  return events.flatMap(([event, when, tables, suffix]) => [
    `create trigger rowgate_changes_${event} ${when} on ${table} ${tables}
  for each statement execute function rowgate.changes_${feed}${suffix}()`,
    `alter table ${table} enable always trigger rowgate_changes_${event}`,
  ]);
}

function planMovedTrigger(table: FeedTable, feed: number): readonly string[] {
  return [
    describeMovedFunction(table, feed),
    `revoke all on function rowgate.changes_${feed}_moved() from public`,
    `create trigger rowgate_changes_moved after update on ${table.identifier}
  for each row when (${describeMoved(table)}) execute function rowgate.changes_${feed}_moved()`,
    `alter table ${table.identifier} enable always trigger rowgate_changes_moved`,
  ];
}

/**
 * Plans the row trigger. Partitions that are added later get a copy of it, but not of statement
 * triggers. On present partitions it is disabled, because statement triggers cost less, unless
 * logical replication writes into them, which fires no others. A table without partitions needs it
 * only for logical replication.
 */
function planRowTrigger({ table, partitioned }: FeedTarget, feed: number): readonly string[] {
  return [
    describeRowFunction(table, feed),
    `revoke all on function rowgate.changes_${feed}_row() from public`,
    `create trigger rowgate_changes_rows after insert or update or delete on ${table.identifier}
  for each row${
      partitioned ? "" : ` ${WHEN_REPLICATED}`
    } execute function rowgate.changes_${feed}_row()`,
    `alter table ${table.identifier} enable always trigger rowgate_changes_rows`,
  ];
}

/**
 * Workers of logical replication always have this role; another session with it writes both entries.
 */
const WHEN_REPLICATED = "when (pg_catalog.current_setting('session_replication_role') = 'replica')";

/** Returns the number of a new feed. It is random, so that the statements can be printed. */
export function drawFeedId(): number {
  return 1 + crypto.getRandomValues(new Uint32Array(1))[0]! % 2_147_483_646;
}

/** Gives the quoted name of a partition. */
export function qualifyPartition(schema: string, name: string): SqlText {
  return `${quoteIdentifier(schema)}.${quoteIdentifier(name)}` as SqlText;
}
