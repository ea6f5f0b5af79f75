import * as v from "valibot";
import type { TokenScope } from "./token.ts";

/** A token as the database keeps it: all but its digest. */
export interface TokenRecord {
  readonly id: string;
  readonly name: string | null;
  readonly tenant: string;
  readonly scopes: readonly TokenScope[];
  /** Null: all tables. */
  readonly tables: readonly string[] | null;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Id of the token that this one took the place of. */
  readonly replaces: string | null;
  /** Milliseconds it is still good for, by the database's clock; null: for ever; 0: no more. */
  readonly remainingMs: number | null;
}

const date = v.pipe(v.string(), v.transform((text) => new Date(text)), v.date());

const record = v.pipe(
  v.object({
    id: v.string(),
    name: v.nullable(v.string()),
    tenant: v.string(),
    scopes: v.array(v.picklist(["query", "update"])),
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

/** Parses what `describeRow` printed. */
export function parseRecord(text: string): TokenRecord {
  return v.parse(record, JSON.parse(text));
}
