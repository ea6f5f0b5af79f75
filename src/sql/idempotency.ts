import type { Idempotency } from "../plan/idempotency.ts";
import type { Fragment, PendingQuery, Sql } from "../postgres/driver.ts";

/** The columns that a statement with an idempotency key gives besides its own. */
export interface ClaimRow {
  /** False: nothing was done, since the key was used before or is in use. Absent without a key. */
  readonly claimed?: boolean;
  /** The answer that is kept for the key, as JSON; null where there is none. */
  readonly kept?: string | null;
}

/** What of an answer is kept; all else of it follows from the request. Each is SQL. */
export interface KeptValues {
  /** int8: rows that match, of an answer that is 404 or 409; null for 200. */
  readonly matched: Fragment;
  /** int8[]: rows that were written, for each update of a batch; null for 404 and 409. */
  readonly updated: Fragment;
  /** int4: which update of a batch the answer is about. */
  readonly place?: Fragment;
}

/** Locks of two numbers are apart from those of one, which others use. It is "rowg" in ASCII. */
const LOCK_CLASS = "1919907687";

/**
 * Compiles the common table expressions, with a comma, that claim the key of an update: `$claim` is true
 * where no answer is kept for it, and no other transaction has it. The claim is a lock that ends with the
 * transaction. What the lock cannot exclude, that another one committed just now, the primary key does.
 * Empty without a key.
 * @see docs/specification/idempotency.md
 */
export function compileClaim(sql: Sql, idempotency: Idempotency | undefined): Fragment {
  if (idempotency === undefined) return sql``;
  const { tokenId, key, hours } = idempotency;
  return sql`
    "$kept" as materialized (
      select json_build_object(
        'request', encode("$row".request, 'hex'),
        'matched', "$row".matched,
        'updated', "$row".updated,
        'place', "$row".place,
        'expired', "$row".at < now() - ${String(hours)}::text::float8 * interval '1 hour'
      )::text "$answer"
      from rowgate.idempotency_keys "$row"
      where "$row".token_id = ${tokenId}::text and "$row".key = ${compileDigest(sql, key)}
    ),
    "$claim" as materialized (
      select case when exists (select from "$kept") then false
        else pg_try_advisory_xact_lock(
          ${LOCK_CLASS}::text::int4, hashtext(concat(${tokenId}::text, ' ', ${key}::text))
        )
      end "$claimed"
    ),`;
}

/** Compiles the condition, with `and`, that the key was claimed; empty without a key. */
export function compileClaimed(sql: Sql, idempotency: Idempotency | undefined): Fragment {
  return idempotency === undefined ? sql`` : sql`and (select "$claimed" from "$claim")`;
}

/** Compiles the columns of {@link ClaimRow}, with a comma before them; empty without a key. */
export function compileClaimColumns(sql: Sql, idempotency: Idempotency | undefined): Fragment {
  if (idempotency === undefined) return sql``;
  return sql`,
    (select "$claimed" from "$claim") claimed,
    (select "$answer" from "$kept") kept`;
}

/** Compiles the claim as the first statement of a transaction. */
export function compileClaimStep(sql: Sql, idempotency: Idempotency): PendingQuery<ClaimRow[]> {
  return sql<ClaimRow[]>`
    with ${compileClaim(sql, idempotency)}
    "$both" as (
      select 1 "$one" ${compileClaimColumns(sql, idempotency)}
    )
    select claimed, kept from "$both"`;
}

/**
 * Compiles the insert of an answer; a FROM may follow. The text of the key is not stored: it may be
 * anything that a client has at hand.
 */
export function compileKeep(
  sql: Sql,
  { tokenId, key, request }: Idempotency,
  { matched, updated, place = sql`null::int4` }: KeptValues,
): Fragment {
  return sql`
    insert into rowgate.idempotency_keys (token_id, key, request, matched, updated, place)
    select
      ${tokenId}::text, ${compileDigest(sql, key)}, decode(${request}::text, 'hex'),
      ${matched}, ${updated}, ${place}`;
}

/** Compiles the deletion of an answer that is older than it may be. */
export function compileForget(
  sql: Sql,
  { tokenId, key, hours }: Idempotency,
): PendingQuery<never[]> {
  return sql<never[]>`
    delete from rowgate.idempotency_keys "$row"
    where "$row".token_id = ${tokenId}::text and "$row".key = ${compileDigest(sql, key)}
      and "$row".at < now() - ${String(hours)}::text::float8 * interval '1 hour'`;
}

function compileDigest(sql: Sql, key: string): Fragment {
  return sql`sha256(convert_to(${key}::text, 'UTF8'))`;
}
