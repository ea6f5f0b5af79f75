/** The scopes that concern tables. @see A9, A10 */
export const TABLE_SCOPES = ["query", "update", "create", "delete"] as const;

/**
 * Everything that a token can be allowed to do. The command, the tokens' records, OpenAPI and the typed
 * client are made from this list; a migration in `schema/` admits a new one to the table of tokens.
 * @see A9, A10, WH1
 */
export const SCOPES = [...TABLE_SCOPES, "webhooks"] as const;

/** The scopes of a new token that does not say any: what makes and destroys records must be said. */
export const DEFAULT_SCOPES: readonly TokenScope[] = ["query", "update"];

/** What a token may do with tables. */
export type TableScope = typeof TABLE_SCOPES[number];

/** What a token may do. */
export type TokenScope = typeof SCOPES[number];

/** Reports whether a text names a scope. */
export function isScope(text: string): text is TokenScope {
  return SCOPES.some((scope) => scope === text);
}
