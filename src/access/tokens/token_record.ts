import * as v from "valibot";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import type { Access, TokenRecord } from "./token.ts";
import { SCOPES } from "../scopes.ts";

export type { TokenRecord };

const date = v.pipe(v.string(), v.transform((text) => new Date(text)), v.date());

const record = v.pipe(
  v.object({
    id: v.string(),
    name: v.nullable(v.string()),
    tenant: v.string(),
    scopes: v.array(v.picklist(SCOPES)),
    tables: v.nullable(v.array(v.string())),
    created_at: date,
    expires_at: v.nullable(date),
    revoked_at: v.nullable(date),
    replaces: v.nullable(v.string()),
    remaining_ms: v.nullable(v.number()),
  }),
  v.transform(({ created_at, expires_at, revoked_at, remaining_ms, ...rest }): TokenRecord => ({
    ...rest,
    createdAt: created_at,
    expiresAt: expires_at,
    revokedAt: revoked_at,
    remainingMs: remaining_ms,
  })),
);

/** Parses what `printRecord` printed. */
export function parseRecord(text: string): TokenRecord {
  return v.parse(record, JSON.parse(text));
}

/** Returns what a token allows, as long as it is valid. */
export function accessOf(
  { id: tokenId, name, tenant, scopes, tables, expiresAt }: TokenRecord,
): Access {
  return { tokenId, name, tenant, scopes, tables, expiresAt };
}

/**
 * Checks the expiry: reports whether a token has expired or was revoked, by the database's clock.
 * @see A5, A19
 */
export function hasEnded({ remainingMs }: TokenRecord): boolean {
  return remainingMs === 0;
}

/**
 * Compiles a row of `rowgate.tokens`, with the alias `t`, as JSON for `parseRecord`. The driver
 * parses neither arrays nor times, and the time left is by the database's clock.
 */
export function printRecord(sql: Sql): Fragment {
  return sql`pg_catalog.json_build_object(
    'id', t.id, 'name', t.name, 'tenant', t.tenant,
    'scopes', pg_catalog.to_json(t.scopes), 'tables', pg_catalog.to_json(t.tables),
    'created_at', ${printTime(sql, "created_at")},
    'expires_at', ${printTime(sql, "expires_at")},
    'revoked_at', ${printTime(sql, "revoked_at")},
    'replaces', t.replaces,
    'remaining_ms', case when t.revoked_at is not null then 0
      when t.expires_at is not null then greatest(0, pg_catalog.floor(
        extract(epoch from t.expires_at - pg_catalog.clock_timestamp()) * 1000)) end)::text`;
}

function printTime(sql: Sql, column: "created_at" | "expires_at" | "revoked_at"): Fragment {
  const form = sql`'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'`;
  switch (column) {
    case "created_at":
      return sql`pg_catalog.to_char(t.created_at at time zone 'UTC', ${form})`;
    case "expires_at":
      return sql`pg_catalog.to_char(t.expires_at at time zone 'UTC', ${form})`;
    case "revoked_at":
      return sql`pg_catalog.to_char(t.revoked_at at time zone 'UTC', ${form})`;
  }
}
