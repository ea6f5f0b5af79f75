/** What a token may do with tables. @see A9, A10 */
export type TableScope = "query" | "update";

/** What a token may do. @see A9, A10, WH1 */
export type TokenScope = TableScope | "webhooks";

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
  /** Keeps tokens in the cache that were found valid at a given time. */
  readonly confirm?: (tokenIds: readonly string[], atMs: number) => void;
}
