import { printArray } from "../../basics/text/array_text.ts";
import type { Database } from "../../database/postgres/database.ts";
import type { Expiry } from "./parse_expiry.ts";
import { parseRecord, printRecord, type TokenRecord } from "./token_record.ts";
import type { TokenScope } from "../scopes.ts";
import { mintToken } from "./token_text.ts";

/** A token to be created. */
export interface TokenDraft {
  readonly tenant: string;
  readonly name: string | null;
  readonly scopes: readonly TokenScope[];
  /** Null: all tables. */
  readonly tables: readonly string[] | null;
  readonly expiry: Expiry;
}

/** A new token; `token` is shown once and stored nowhere. */
export interface CreatedToken {
  readonly token: string;
  readonly record: TokenRecord;
}

/**
 * Creates a token; undefined if it would have expired already by the database's clock.
 * @see A14, A17
 */
export async function createToken(
  database: Database,
  draft: TokenDraft,
): Promise<CreatedToken | undefined> {
  const { id, token, digest } = mintToken();
  const scopes = printArray(draft.scopes);
  const tables = draft.tables === null ? null : printArray(draft.tables);
  const after = draft.expiry.kind === "after" ? String(draft.expiry.seconds) : null;
  const at = draft.expiry.kind === "at" ? draft.expiry.time : null;
  const [row] = await database.run<{ record: string }>(
    (sql) =>
      sql`with due as (
          select coalesce(${at}::text::timestamptz,
            now() + ${after}::text::float8 * interval '1 second') as expires_at
        ), t as (
          insert into rowgate.tokens (id, digest, tenant, name, scopes, tables, expires_at)
          select ${id}::text, pg_catalog.decode(${digest}::text, 'hex'), ${draft.tenant}::text,
            ${draft.name}::text, ${scopes}::text::text[], ${tables}::text::text[], due.expires_at
          from due where due.expires_at is null or due.expires_at > now()
          returning *
        ) select ${printRecord(sql)} as record from t`,
    { write: true },
  );
  return row === undefined ? undefined : { token, record: parseRecord(row.record) };
}

/** Lists the tokens, of one tenant or all, oldest first. */
export async function listTokens(
  database: Database,
  { tenant }: { readonly tenant?: string | undefined } = {},
): Promise<readonly TokenRecord[]> {
  const rows = await database.run<{ record: string }>(
    (sql) =>
      sql`select ${printRecord(sql)} as record from rowgate.tokens t
        where ${tenant ?? null}::text is null or t.tenant = ${tenant ?? null}::text
        order by t.number`,
    { write: false },
  );
  return rows.map((row) => parseRecord(row.record));
}

/** Revokes a token for good; undefined when no token has that id. */
export async function revokeToken(
  database: Database,
  id: string,
): Promise<TokenRecord | undefined> {
  const [row] = await database.run<{ record: string }>(
    (sql) =>
      sql`with t as (
          update rowgate.tokens set revoked_at = coalesce(revoked_at, now())
          where id = ${id}::text returning *
        ) select ${printRecord(sql)} as record from t`,
    { write: true },
  );
  return row === undefined ? undefined : parseRecord(row.record);
}

/**
 * Creates a token with the same tenant, scopes, tables and lifetime, and lets the old one expire
 * after the overlap. Undefined if no token has that id, or the token has ended or was rotated
 * already.
 */
export async function rotateToken(
  database: Database,
  { id, overlapSeconds }: { readonly id: string; readonly overlapSeconds: number },
): Promise<CreatedToken | undefined> {
  const fresh = mintToken();
  const [row] = await database.run<{ record: string }>(
    (sql) =>
      sql`with old as (
          select o.* from rowgate.tokens o
          where o.id = ${id}::text and o.revoked_at is null
            and (o.expires_at is null or o.expires_at > now())
            and not exists (select from rowgate.tokens n where n.replaces = o.id)
          for update
        ), ended as (
          update rowgate.tokens e set expires_at = least(old.expires_at,
            now() + ${String(overlapSeconds)}::text::float8 * interval '1 second')
          from old where e.id = old.id
        ), t as (
          insert into rowgate.tokens
            (id, digest, tenant, name, scopes, tables, expires_at, replaces)
          select ${fresh.id}::text, pg_catalog.decode(${fresh.digest}::text, 'hex'), old.tenant,
            old.name, old.scopes, old.tables, now() + (old.expires_at - old.created_at), old.id
          from old returning *
        ) select ${printRecord(sql)} as record from t`,
    { write: true },
  );
  return row === undefined ? undefined : { token: fresh.token, record: parseRecord(row.record) };
}
