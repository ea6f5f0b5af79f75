import type { Idempotency } from "../plan/idempotency.ts";
import type { Fragment, PendingQuery, Sql } from "../../database/postgres/driver.ts";

/** The additional column of a statement with an idempotency key. */
export interface ClaimRow {
  /** False: nothing was done, because the key was used before or is in use. Absent without a key. */
  readonly claimed?: boolean;
}

/** A stored answer. */
export interface KeptRow {
  /** JSON: a list of the numbers of rows written, or an object with `matched` for a 404 or 409. */
  readonly answer: string;
  /** True if the answer belongs to the same request. */
  readonly same: boolean;
  readonly expired: boolean;
}

/**
 * First number of the advisory locks: "rowg" in ASCII. Locks of two numbers never collide with locks
 * of one, which others use.
 */
const LOCK_CLASS = "1919907687";

/**
 * Compiles the common table expression, with a comma, that claims the key of an update; empty without
 * a key. `$claim` is true if no answer is stored for the key and no other transaction has claimed it.
 * The claim is an advisory lock that ends with the transaction. The lock does not exclude that
 * another transaction has just committed; the primary key does.
 * @see docs/specification/idempotency.md
 */
export function compileClaim(sql: Sql, idempotency: Idempotency | undefined): Fragment {
  return idempotency === undefined ? sql`` : sql`${compileOwnClaim(sql, idempotency)},`;
}

function compileOwnClaim(sql: Sql, { tokenId, key }: Idempotency): Fragment {
  return sql`
    "$claim" as materialized (
      select case
        when exists (
          select from rowgate.idempotency_keys "$row"
          where "$row".token_id = ${tokenId}::text and "$row".key = ${compileDigest(sql, key)}
        ) then false
        else pg_try_advisory_xact_lock(
          ${LOCK_CLASS}::text::int4, hashtext(concat(${tokenId}::text, ' ', ${key}::text))
        )
      end "$claimed"
    )`;
}

/** Compiles the condition, with `and`, that the key was claimed; empty without a key. */
export function compileClaimed(sql: Sql, idempotency: Idempotency | undefined): Fragment {
  return idempotency === undefined ? sql`` : sql`and (select "$claimed" from "$claim")`;
}

/** Compiles the column of {@link ClaimRow}, with a comma before it; empty without a key. */
export function compileClaimColumn(sql: Sql, idempotency: Idempotency | undefined): Fragment {
  return idempotency === undefined ? sql`` : sql`, (select "$claimed" from "$claim") claimed`;
}

/** Compiles the claim as the first step of a transaction. */
export function compileClaimStep(sql: Sql, idempotency: Idempotency): PendingQuery<ClaimRow[]> {
  return sql<ClaimRow[]>`
    with ${compileOwnClaim(sql, idempotency)}
    select "$claimed" claimed from "$claim"`;
}

/**
 * Compiles the insert of an answer; a FROM may follow. Only a digest of the key is stored, because a
 * client may put any text into a key, even a secret.
 */
export function compileKeep(
  sql: Sql,
  { tokenId, key, request }: Idempotency,
  answer: Fragment,
): Fragment {
  return sql`
    insert into rowgate.idempotency_keys (token_id, key, request, answer)
    select
      ${tokenId}::text, ${compileDigest(sql, key)}, ${compileDigest(sql, request)}, ${answer}`;
}

/** Compiles the look-up of a stored answer. */
export function compileFindKept(
  sql: Sql,
  { tokenId, key, request, hours }: Idempotency,
): PendingQuery<KeptRow[]> {
  return sql<KeptRow[]>`
    select
      "$row".answer,
      "$row".request = ${compileDigest(sql, request)} same,
      "$row".at < now() - ${String(hours)}::text::float8 * interval '1 hour' expired
    from rowgate.idempotency_keys "$row"
    where "$row".token_id = ${tokenId}::text and "$row".key = ${compileDigest(sql, key)}`;
}

/** Compiles the deletion of an expired answer. */
export function compileForget(
  sql: Sql,
  { tokenId, key, hours }: Idempotency,
): PendingQuery<never[]> {
  return sql<never[]>`
    delete from rowgate.idempotency_keys "$row"
    where "$row".token_id = ${tokenId}::text and "$row".key = ${compileDigest(sql, key)}
      and "$row".at < now() - ${String(hours)}::text::float8 * interval '1 hour'`;
}

function compileDigest(sql: Sql, text: string): Fragment {
  return sql`sha256(convert_to(${text}::text, 'UTF8'))`;
}
