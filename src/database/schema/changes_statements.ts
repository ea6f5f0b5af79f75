import {
  executionOf,
  grantToServingRoles,
  noteVersion,
  revokeFromAll,
  type Statement,
  statement,
} from "./statement.ts";

const FEEDS_TABLE = statement`create table if not exists rowgate.feeds (
  id int4 primary key,
  generation uuid not null default pg_catalog.gen_random_uuid(),
  schema_name text not null,
  table_name text not null,
  tenant_column text,
  key_columns text[] not null,
  enabled_at timestamptz not null default now()
)`;

/**
 * An entry says that a transaction changed the rows with these keys, of this tenant; their values are
 * read from the table itself. A large statement leaves an entry for each thousand keys of a tenant.
 */
const CHANGES_TABLE = statement`create table if not exists rowgate.changes (
  xid xid8 not null default pg_catalog.pg_current_xact_id(),
  seq int8 not null generated always as identity,
  feed int4 not null,
  tenant text collate "C" not null,
  amount int4 not null,
  keys text[] not null,
  at timestamptz not null default clock_timestamp(),
  primary key (xid, seq)
)`;

const CHANGES_INDEX = statement`create index if not exists changes_of_tenant
  on rowgate.changes (feed, tenant, xid, seq)`;

const PRUNED_TABLE = statement`create table if not exists rowgate.changes_pruned (
  only_row bool primary key default true check (only_row),
  below xid8 not null,
  at timestamptz not null default now()
)`;

const FIRST_PRUNED = statement`insert into rowgate.changes_pruned (below) values ('0')
  on conflict do nothing`;

/**
 * An image has the former values of the columns that decide whether clients see a row; null: there was
 * no row. Feeds of tables whose rows are all seen have none.
 */
const IMAGES = [
  statement`alter table rowgate.feeds add column if not exists
  image_columns text[] not null default '{}'`,
  statement`alter table rowgate.changes add column if not exists images json[]`,
];

/**
 * Everything that a client is given must survive a crash, after which Postgres may also reuse the
 * number of a lost transaction. So a statement that reads the log waits for the disk, and writers
 * need not. If not all WAL is on disk, the reader writes a record of its own, and its commit flushes
 * everything before it, hence everything that its snapshot sees. It does not wait for standbys: after
 * a failover clients begin again.
 *
 * Returns how far the WAL is on disk when the statement's answer is given. At the beginning of a WAL
 * file, the position after the last record is after the file's header, which is only written with the
 * next record. This case must not count as unwritten WAL: an idle server with `archive_timeout` would
 * begin a new file every minute for ever.
 */
const FLUSH_FUNCTION = statement`create or replace function rowgate.changes_flush() returns pg_lsn
language plpgsql set search_path = pg_catalog, pg_temp as $rowgate$
declare
  flushed pg_lsn := pg_current_wal_flush_lsn();
  written pg_lsn := pg_current_wal_insert_lsn();
begin
  if flushed >= written
    or written - flushed = 40 and (pg_walfile_name_offset(flushed)).file_offset = 0
  then
    return flushed;
  end if;
  perform set_config('synchronous_commit', 'local', true);
  perform pg_logical_emit_message(true, 'rowgate', '');
  return written;
end $rowgate$`;

/**
 * The position of the log at the snapshot of the calling statement. `next` is one more than the
 * transaction of the newest visible entry, not the snapshot's own xmax: that entry is known to be on
 * disk, so no crash can give its number to another transaction. Only running transactions below it
 * matter.
 */
const MOMENT_FUNCTION = statement`create or replace function rowgate.changes_moment() returns json
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $rowgate$
declare
  newest record;
  below xid8 := (select p.below from rowgate.changes_pruned p);
  next xid8;
begin
  if pg_is_in_recovery() then return json_build_object('standby', true); end if;
  select c.xid, c.seq, (extract(epoch from c.at) * 1000000)::int8 as at into newest
    from rowgate.changes c order by c.xid desc, c.seq desc limit 1;
  next := below;
  if newest.xid >= below then next := (newest.xid::text::int8 + 1)::text::xid8; end if;
  return json_build_object(
    'standby', false,
    'life', concat_ws('.', (select system_identifier from pg_control_system()),
      left(pg_walfile_name(pg_current_wal_insert_lsn()), 8),
      (select oid from pg_database where datname = current_database())),
    'wal', (rowgate.changes_flush() - '0/0'::pg_lsn)::text,
    'below', below::text,
    'next', next::text,
    'running', (select coalesce(json_agg(x::text order by x), '[]')
      from pg_snapshot_xip(pg_current_snapshot()) x where x < next),
    'newest', case when newest.xid >= below
      then json_build_array(newest.xid::text, newest.seq::text, newest.at::text) end);
end $rowgate$`;

/**
 * Whether a table has the statement triggers. A trigger for updates that does not read the old rows
 * needs another one, which logs changed keys and tenants.
 */
const coveredBy = (table: string) =>
  `(select count(*) filter (where g.tgfoid = main) = 3
        and coalesce(bool_or(g.tgtype & 16 > 0 and (g.tgoldtable is not null or g.tgfoid = moved)), false)
      from pg_trigger g
      where g.tgrelid = ${table} and g.tgfoid in (main, moved) and g.tgenabled = 'A')`;

/**
 * Whether every change of a table is caught, and a digest that changes if one may have been missed:
 * triggers that were disabled for a while, partitions that were added or removed, columns that were
 * altered, row level security. Updating a row of a system table changes its xmin, so nothing can be done
 * and undone unseen.
 */
const SHAPE_FUNCTION = statement`create or replace function rowgate.changes_shape(
  feed int4, root oid
) returns json
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $rowgate$
declare
  found record;
  main oid := to_regproc(concat('rowgate.changes_', feed));
  truncates oid := to_regproc(concat('rowgate.changes_', feed, '_truncate'));
  rows oid := to_regproc(concat('rowgate.changes_', feed, '_row'));
  moved oid := to_regproc(concat('rowgate.changes_', feed, '_moved'));
  result json;
begin
  select f.* into found from rowgate.feeds f where f.id = feed;
  if found.id is null then return null; end if;
  with recursive tree as (
    select root as oid, 0::oid as parent, ${coveredBy("root")} as covered
    union all
    select i.inhrelid, i.inhparent, tree.covered and ${coveredBy("i.inhrelid")}
    from tree join pg_inherits i on i.inhparent = tree.oid
  ),
  members as (
    select tree.*, c.relkind, c.relfilenode,
      exists (select from pg_trigger g where g.tgrelid = tree.oid and g.tgfoid = truncates
        and g.tgenabled = 'A') as truncates,
      exists (select from pg_trigger g where g.tgrelid = tree.oid and g.tgfoid = rows
        and g.tgenabled = 'A') as each_row
    from tree join pg_class c on c.oid = tree.oid
  ),
  parts (part) as (
    select concat('m', m.oid, ' ', m.parent, ' ',
      case when m.relkind = 'r' and not m.truncates then m.relfilenode end) from members m
    union all
    select concat('t', g.oid, ' ', g.tgenabled, ' ', g.xmin)
    from tree join pg_trigger g on g.tgrelid = tree.oid and g.tgfoid in (main, truncates, rows, moved)
    union all
    select concat('f', p.oid, ' ', p.xmin) from pg_proc p where p.oid in (main, truncates, rows, moved)
    union all
    select concat('c', a.attnum, ' ', a.xmin) from pg_attribute a
    where a.attrelid = root and a.attnum > 0
    union all
    select concat('g', found.generation)
    union all
    select concat('s', c.relforcerowsecurity, c.relowner) from pg_class c
    where c.oid = root and c.relrowsecurity
    union all
    select concat('p', p.oid, ' ', p.xmin) from pg_policy p join pg_class c on c.oid = p.polrelid
    where c.oid = root and c.relrowsecurity
  )
  select json_build_object(
    'tenant', found.tenant_column,
    'key', found.key_columns,
    'images', to_json(found) -> 'image_columns',
    'complete', coalesce((select bool_and(case
        when m.relkind = 'r' then (m.covered or m.each_row) and (m.truncates or m.parent <> 0)
        else m.relkind = 'p' end) from members m)
      and (select m.covered and (m.relkind = 'p' or (select count(*) from tree) = 1)
        from members m where m.oid = root)
      and (not exists (select from pg_subscription_rel s join tree on tree.oid = s.srrelid)
        or not exists (select from members m where m.relkind = 'r' and not m.each_row)), false),
    'shape', (select left(md5(string_agg(part, ',' order by part)), 16) from parts))
  into result;
  return result;
end $rowgate$`;

/**
 * Deletes the oldest entries, if they are older than so many days and every transaction up to theirs
 * has ended. Cursors that need one of them are rejected from the same moment. It takes no lock that a
 * writer waits for, and does nothing while another session prunes. An entry from the future, written
 * before the clock was set back, counts as old as the entries after it.
 */
const PRUNE_FUNCTION = statement`create or replace function rowgate.prune_changes(
  days float8, most int4
) returns int8
language plpgsql security definer set search_path = pg_catalog, pg_temp as $rowgate$
declare
  horizon xid8 := pg_snapshot_xmin(pg_current_snapshot());
  oldest timestamptz := now() - days * interval '1 day';
  limit_xid xid8;
  deleted int8;
  newest int8;
begin
  if not pg_try_advisory_xact_lock(7164753019459954545) then return 0; end if;
  select b.xid into limit_xid from (
    select c.xid, c.seq, c.at, min(c.at) filter (where c.at <= now()) over (
        order by c.xid, c.seq rows between current row and unbounded following) as later
    from (select c.xid, c.seq, c.at from rowgate.changes c where c.xid < horizon
      order by c.xid, c.seq limit most) c) b
  where case when b.at > now() then coalesce(b.later >= oldest, true) else b.at >= oldest end
  order by b.xid, b.seq limit 1;
  if limit_xid is null then
    select (b.xid::text::int8 + 1)::text::xid8 into limit_xid from (
      select c.xid, c.seq from rowgate.changes c where c.xid < horizon
      order by c.xid, c.seq limit most) b
    order by b.xid desc limit 1;
  end if;
  if limit_xid is null then return 0; end if;
  with gone as (delete from rowgate.changes c where c.xid < limit_xid returning c.xid)
  select count(*), max(gone.xid::text::int8) into deleted, newest from gone;
  if deleted > 0 then
    update rowgate.changes_pruned p set below = (newest + 1)::text::xid8, at = now()
    where p.below < (newest + 1)::text::xid8;
  end if;
  return deleted;
end $rowgate$`;

/** The functions that a serving role calls. */
export const CHANGES_FUNCTIONS: readonly string[] = [
  "rowgate.changes_moment()",
  "rowgate.changes_shape(int4, oid)",
  "rowgate.prune_changes(float8, int4)",
];

/** The statements that create the log of the changes feed. @see docs/specification/changes.md */
export const CHANGES_VERSION: readonly Statement[] = [
  FEEDS_TABLE,
  CHANGES_TABLE,
  CHANGES_INDEX,
  PRUNED_TABLE,
  FIRST_PRUNED,
  grantToServingRoles("select on rowgate.changes, rowgate.feeds"),
  noteVersion(4),
];

/** Removes a trigger of earlier versions, which made each writer wait for the disk. */
const WRITERS_WAIT_NO_MORE = [
  statement`drop trigger if exists keep_durable on rowgate.changes`,
  statement`drop function if exists rowgate.keep_durable()`,
];

/** The statements that create the functions of the log. */
export const CHANGES_FUNCTIONS_VERSION: readonly Statement[] = [
  FLUSH_FUNCTION,
  MOMENT_FUNCTION,
  SHAPE_FUNCTION,
  PRUNE_FUNCTION,
  ...WRITERS_WAIT_NO_MORE,
  revokeFromAll([...CHANGES_FUNCTIONS, "rowgate.changes_flush()"]),
  grantToServingRoles(executionOf(CHANGES_FUNCTIONS)),
  noteVersion(8),
];

/** Lets updates log the old keys of rows by a trigger of their own. */
export const MOVED_VERSION: readonly Statement[] = [SHAPE_FUNCTION, noteVersion(9)];

/** Lets feeds log whether clients saw a row before it was changed. */
export const IMAGES_VERSION: readonly Statement[] = [...IMAGES, SHAPE_FUNCTION, noteVersion(10)];
