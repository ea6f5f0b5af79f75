import type { LogSnapshot } from "../plan/changes_plan.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";
import { printArray } from "../../basics/text/array_text.ts";
import type { LogAnchor } from "./change_lines.ts";

/** One look at the log for all waiting clients. */
export interface WatchQuestion {
  /** What the previous look saw. */
  readonly seen: LogSnapshot;
  /** The feeds that clients wait for, and their tables as the database names them. */
  readonly feeds: readonly {
    readonly feed: number;
    readonly schema: string;
    readonly table: string;
  }[];
  /** Clients that have arrived since, and what each of them has seen. */
  readonly arrived: readonly {
    readonly feed: number;
    readonly tenant: string;
    readonly seen: LogSnapshot;
    readonly anchor: LogAnchor | undefined;
  }[];
  /** Tokens to look up; most looks have none. */
  readonly tokens: readonly string[];
  /** Prints a row of `rowgate.tokens`, named `t`. */
  readonly record: Fragment;
}

/** The result; each column but the first is a JSON array. */
export interface WatchRow {
  readonly moment: string;
  /** `[feed, shape]` */
  readonly shapes: string;
  /** `[feed, tenant]` with entries that the previous look did not see. */
  readonly changed: string;
  /** Indexes of the arrived clients for which there is something new. */
  readonly behind: string;
  /** The records of those tokens that exist, each a text. */
  readonly records: string;
}

/**
 * Compiles the statement that asks for all clients at once whether there is anything new for them. It
 * needs no right to their tables, since one that was revoked must not end the waits of other clients.
 * @see CH9
 */
export function compileWatch(
  sql: Sql,
  { seen, feeds, arrived, tokens, record }: WatchQuestion,
): PendingQuery<WatchRow[]> {
  const clients = arrived.map(({ feed, tenant, seen, anchor }, place) => ({
    place,
    feed,
    tenant,
    next: seen.next,
    running: seen.running,
    xid: anchor?.[0],
    seq: anchor?.[1],
    at: anchor?.[2],
  }));
  return sql<WatchRow[]>`
    select
      (select rowgate.changes_moment())::text moment,
      (
        select coalesce(json_agg(json_build_array("$feed".feed,
          rowgate.changes_shape("$feed".feed, "$class".oid))), '[]')
        from json_to_recordset(${JSON.stringify(feeds)}::text::json) "$feed"(
          feed pg_catalog.int4, "schema" pg_catalog.text, "table" pg_catalog.text
        )
        left join pg_catalog.pg_namespace "$space" on "$space".nspname = "$feed"."schema"
        left join pg_catalog.pg_class "$class" on "$class".relnamespace = "$space".oid
          and "$class".relname = "$feed"."table"
      )::text shapes,
      (
        select coalesce(json_agg(json_build_array("$new".feed, "$new".tenant)), '[]')
        from (
          select "$log".feed, "$log".tenant from rowgate.changes "$log"
          where "$log".xid >= ${seen.next}::text::xid8
          union
          select "$log".feed, "$log".tenant from rowgate.changes "$log"
          where "$log".xid = any(${printArray(seen.running)}::text::xid8[])
        ) "$new"
      )::text changed,
      (
        select coalesce(json_agg("$client".place), '[]')
        from json_to_recordset(${JSON.stringify(clients)}::text::json) "$client"(
          place pg_catalog.int4, feed pg_catalog.int4, tenant pg_catalog.text,
          next pg_catalog.xid8, running pg_catalog.xid8[], xid pg_catalog.xid8,
          seq pg_catalog.int8, at pg_catalog.int8
        )
        where exists (
          select from rowgate.changes "$log"
          where "$log".feed = "$client".feed and "$log".tenant = "$client".tenant
            and "$log".xid >= "$client".next
        ) or exists (
          select from rowgate.changes "$log"
          where "$log".feed = "$client".feed and "$log".tenant = "$client".tenant
            and "$log".xid = any("$client".running)
        ) or ("$client".xid is not null and not exists (
          select from rowgate.changes "$log"
          where "$log".xid = "$client".xid and "$log".seq = "$client".seq
            and (extract(epoch from "$log".at) * 1000000)::int8 = "$client".at
        ))
      )::text behind,
      (
        select coalesce(json_agg(${record}), '[]')
        from rowgate.tokens t
        where t.id = any(${printArray(tokens)}::text::text[])
      )::text records`;
}
