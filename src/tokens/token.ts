/** What a token may do. @see A9, A10 */
export type TokenScope = "query" | "update";

/** Whom a valid token speaks for, and what it allows. @see S8 */
export interface Access {
  readonly tokenId: string;
  readonly name: string | null;
  readonly tenant: string;
  readonly scopes: readonly TokenScope[];
  /** Null: all tables. */
  readonly tables: readonly string[] | null;
  readonly expiresAt: Date | null;
}

/** Finds the access of a token; null for unknown, expired and revoked alike. */
export interface TokenStore {
  /** At once where the answer is known. */
  readonly find: (token: string) => Access | null | Promise<Access | null>;
  /** The tenant of a token that was good lately, whether or not it still is; else undefined. */
  readonly recall?: (token: string) => string | undefined;
}
