import {
  executionOf,
  grantToServingRoles,
  noteVersion,
  revokeFromAll,
  type Statement,
  statement,
} from "./statement.ts";

/**
 * What is left of each token's limit, at a time of the database's clock. The table is unlogged, so a
 * commit does not wait for the disk, and a crash or failover only fills the buckets. It has no second
 * index, so that updates stay within a page.
 */
const RATES_TABLE = statement`create unlogged table if not exists rowgate.rates (
  token_id text primary key,
  level float8 not null,
  granted float8 not null default 0,
  at timestamptz not null
) with (fillfactor = 50)`;

/**
 * Leases requests of tokens, and takes back unused ones; a negative number stands for requests that
 * were used without a lease. If little is left, it grants a quarter of that, so that others get some
 * too. Rows are locked in the order of their ids, so that processes cannot deadlock.
 */
const LEASE_FUNCTION = statement`create or replace function rowgate.lease_rates(
  asked json, capacity float8, per_second float8
) returns table (id text, granted float8, level float8)
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $rowgate$
declare
  one record;
begin
  for one in
    select a.id, a.want, a.back from json_to_recordset(asked) a(id text, want float8, back float8)
    order by a.id collate "C"
  loop
    loop
      update rowgate.rates r set (level, granted, at) = (
        select filled.level - given.amount, given.amount, filled.at
        from (
          select least(capacity, greatest(0, r.level + one.back
            + per_second * greatest(0, extract(epoch from clock_timestamp() - r.at)))) as level,
            clock_timestamp() as at
        ) filled,
        lateral (
          select least(one.want, greatest(least(1, floor(filled.level)), floor(filled.level / 4)))
            as amount
        ) given
      )
      where r.token_id = one.id
      returning r.token_id, r.granted, r.level into id, granted, level;
      exit when found;
      insert into rowgate.rates (token_id, level, at) values (one.id, capacity, clock_timestamp())
        on conflict do nothing;
    end loop;
    return next;
  end loop;
end $rowgate$`;

/** Deletes buckets that are full again, since a missing bucket counts as full. */
const PRUNE_FUNCTION = statement`create or replace function rowgate.prune_rates(
  window_seconds float8, most int4
) returns int4
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $rowgate$
declare
  deleted int4;
begin
  delete from rowgate.rates r where r.ctid = any (array(
    select old.ctid from rowgate.rates old
    where old.at < clock_timestamp() - window_seconds * interval '1 s'
    limit most for update skip locked));
  get diagnostics deleted = row_count;
  return deleted;
end $rowgate$`;

/** The functions that a serving role calls. */
export const RATES_FUNCTIONS: readonly string[] = [
  "rowgate.lease_rates(json, float8, float8)",
  "rowgate.prune_rates(float8, int4)",
];

/** The statements that create the tables and functions of the shared rate limit. @see M21 */
export const RATES_VERSION: readonly Statement[] = [
  RATES_TABLE,
  LEASE_FUNCTION,
  PRUNE_FUNCTION,
  revokeFromAll(RATES_FUNCTIONS),
  grantToServingRoles(executionOf(RATES_FUNCTIONS)),
  noteVersion(7),
];
