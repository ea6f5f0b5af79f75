import type { Table } from "../../catalogue/catalogue.ts";
import { imagesOf } from "../../records/plan/row_filter.ts";
import type { Database } from "../../database/postgres/database.ts";
import { type FeedTarget, qualifyPartition } from "./feed_statements.ts";

/** A table whose feed is enabled or disabled. */
export interface FoundTarget {
  readonly target: FeedTarget;
  /** Why the table cannot have a feed, for reasons that only the database knows. */
  readonly obstacle: string | undefined;
}

interface FoundRelations {
  readonly partitioned: boolean;
  readonly subscribed: boolean;
  readonly members: readonly {
    readonly schema: string;
    readonly name: string;
    readonly kind: string;
  }[];
  readonly feeds: readonly number[];
}

/** Finds the partitions of a table, and the feeds that it has. */
export async function findTarget(
  database: Database,
  table: Table,
): Promise<FoundTarget> {
  const [row] = await database.run<{ found: string }>(
    (sql) =>
      sql`with recursive root as materialized (
          select c.oid, c.relkind from pg_catalog.pg_class c
          where c.oid = ${table.identifier}::text::pg_catalog.regclass
        ), tree as (
          select oid from root
          union all
          select i.inhrelid from tree join pg_catalog.pg_inherits i on i.inhparent = tree.oid
        )
        select pg_catalog.json_build_object(
          'partitioned', (select relkind = 'p' from root),
          'subscribed', exists (select from pg_catalog.pg_subscription_rel s
            join tree on tree.oid = s.srrelid),
          'members', (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
              'schema', n.nspname, 'name', c.relname, 'kind', c.relkind)
              order by n.nspname, c.relname), '[]')
            from tree join pg_catalog.pg_class c on c.oid = tree.oid
            join pg_catalog.pg_namespace n on n.oid = c.relnamespace
            where tree.oid <> (select oid from root)),
          'feeds', (select coalesce(pg_catalog.json_agg(f.id order by f.id), '[]')
            from rowgate.feeds f
            where (f.schema_name = ${table.stored.schema}::text
                and f.table_name = ${table.stored.name}::text)
              or exists (select from pg_catalog.pg_trigger g join root on g.tgrelid = root.oid
                where g.tgfoid = pg_catalog.to_regproc(
                  pg_catalog.concat('rowgate.changes_', f.id)))))::text as found`,
    { write: false },
  );
  const found: FoundRelations = JSON.parse(row!.found);
  const { partitioned, subscribed, members, feeds } = found;
  return {
    target: {
      table: { ...table, images: imagesOf(table) },
      partitioned,
      partitions: members.map(({ schema, name, kind }) => ({
        identifier: qualifyPartition(schema, name),
        stored: kind === "r",
      })),
      subscribed,
      replaced: feeds,
    },
    obstacle: explainObstacle(found),
  };
}

function explainObstacle({ members }: FoundRelations): string | undefined {
  const foreign = members.find(({ kind }) => kind !== "r" && kind !== "p");
  return foreign && `its partition ${foreign.name} is on another server`;
}

/** A feed as `rowgate changes status` and `doctor` show it. */
export interface FeedStatus {
  readonly id: number;
  /** The present name of its table: a renamed table keeps its triggers. */
  readonly schema: string;
  readonly table: string;
  /** ISO 8601, UTC. */
  readonly enabledAt: string;
  /** `complete`: every change is caught; `gone`: the table was dropped. */
  readonly state: "complete" | "incomplete" | "gone";
  /** Null: shared by all tenants. */
  readonly tenantColumn: string | null;
  readonly keyColumns: readonly string[];
  /** Columns of which the log has the former values; undefined: the schema is of an earlier version. */
  readonly imageColumns?: readonly string[] | null;
}

/** The log of all feeds. */
export interface LogStatus {
  /** Entries, as the planner estimates them. */
  readonly entries: number;
  /** Bytes with indexes. */
  readonly bytes: number;
  /** Age of the oldest entry in seconds; null: there is none. */
  readonly oldestSeconds: number | null;
  /** The oldest running transaction that has written something, in any database of the server. */
  readonly oldestTransaction: {
    readonly pid: number | null;
    readonly user: string | null;
    readonly application: string | null;
    readonly database: string | null;
    /** A lower bound if the role may not see more; null: unknown. */
    readonly seconds: number | null;
    /** Name of the prepared transaction, if it is one. */
    readonly prepared: string | null;
  } | null;
}

/**
 * Reads the feeds and the log.
 * @throws {DatabaseError} `stale` the schema is of an earlier version; `permission` the role may not
 */
export async function readStatus(
  database: Database,
): Promise<{ readonly feeds: readonly FeedStatus[]; readonly log: LogStatus }> {
  const [row] = await database.run<{ feeds: string; log: string }>(
    (sql) =>
      sql`select
          (select coalesce(pg_catalog.json_agg(pg_catalog.json_build_object(
              'id', f.id, 'schema', coalesce(moved.schema, f.schema_name),
              'table', coalesce(moved.name, f.table_name),
              'enabledAt', pg_catalog.to_char(f.enabled_at at time zone 'UTC',
                'YYYY-MM-DD"T"HH24:MI:SS"Z"'),
              'tenantColumn', f.tenant_column, 'keyColumns', f.key_columns,
              'imageColumns', pg_catalog.to_json(f) -> 'image_columns',
              'state', case when coalesce(c.oid, moved.oid) is null then 'gone'
                when rowgate.changes_shape(f.id, coalesce(c.oid, moved.oid)) ->> 'complete' = 'true'
                  then 'complete'
                else 'incomplete' end) order by f.schema_name, f.table_name), '[]')
            from rowgate.feeds f
            left join pg_catalog.pg_namespace n on n.nspname = f.schema_name
            left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = f.table_name
            left join lateral (
              select r.oid, s.nspname as schema, r.relname as name from pg_catalog.pg_trigger g
              join pg_catalog.pg_class r on r.oid = g.tgrelid and not r.relispartition
              join pg_catalog.pg_namespace s on s.oid = r.relnamespace
              where c.oid is null and g.tgfoid = pg_catalog.to_regproc(
                pg_catalog.concat('rowgate.changes_', f.id))
              limit 1
            ) moved on true
          )::text as feeds,
          pg_catalog.json_build_object(
            'entries', (select greatest(c.reltuples, 0) from pg_catalog.pg_class c
              where c.oid = 'rowgate.changes'::pg_catalog.regclass),
            'bytes', pg_catalog.pg_total_relation_size('rowgate.changes'::pg_catalog.regclass),
            'oldestSeconds', (select pg_catalog.floor(extract(epoch from
                pg_catalog.clock_timestamp() - c.at))
              from rowgate.changes c order by c.xid, c.seq limit 1),
            'oldestTransaction', (select pg_catalog.json_build_object(
                'pid', t.pid, 'user', t.usename, 'application', t.application_name,
                'database', t.datname,
                'seconds', pg_catalog.floor(extract(epoch from pg_catalog.clock_timestamp()
                  - coalesce(t.began, (select least(c.at, pg_catalog.clock_timestamp())
                    from rowgate.changes c
                    where c.xid > pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())
                    order by c.xid, c.seq limit 1)))),
                'prepared', t.gid)
              from (
                select a.pid, a.usename, a.application_name, a.datname, a.xact_start as began,
                  null::text as gid, pg_catalog.age(a.backend_xid) as age
                from pg_catalog.pg_stat_activity a
                where a.backend_xid is not null and a.pid <> pg_catalog.pg_backend_pid()
                union all
                select null, p.owner, null, p.database, p.prepared, p.gid, pg_catalog.age(p.transaction)
                from pg_catalog.pg_prepared_xacts p
              ) t order by t.age desc limit 1))::text as log`,
    { write: false },
  );
  return { feeds: JSON.parse(row!.feeds), log: JSON.parse(row!.log) };
}
