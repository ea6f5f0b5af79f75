import type { TokenScope } from "../scopes.ts";

/** The tenant of a valid token, and what the token allows. @see S8 */
export interface Access {
  readonly tokenId: string;
  readonly name: string | null;
  readonly tenant: string;
  readonly scopes: readonly TokenScope[];
  /** Null: all tables. */
  readonly tables: readonly string[] | null;
  readonly expiresAt: Date | null;
}

/** A token as the database keeps it, without its digest. */
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
  /** Id of the token that this one replaces. */
  readonly replaces: string | null;
  /**
   * Milliseconds until it expires, by the database's clock; null: never; 0: it has expired or was
   * revoked.
   */
  readonly remainingMs: number | null;
}

/**
 * Describes an access as JSON to the holder of its token.
 * @see A12
 */
export function describeAccess(access: Access): string {
  const token = {
    id: access.tokenId,
    name: access.name,
    tenant: access.tenant,
    scopes: access.scopes,
    tables: access.tables,
    expires_at: access.expiresAt?.toISOString() ?? null,
  };
  return JSON.stringify({ success: true, token });
}

/** Finds the access of a token; null for unknown, expired and revoked alike. */
export interface TokenStore {
  /** Returns the access at once if it is cached. */
  readonly find: (token: string) => Access | null | Promise<Access | null>;
  /**
   * Returns the tenant of a token that was valid lately, even if it no longer is; otherwise
   * undefined.
   */
  readonly recall?: (token: string) => string | undefined;
  /** Takes over records that were read at a given time: a token that has ended leaves the cache. */
  readonly confirm?: (records: readonly TokenRecord[], atMs: number) => void;
}
