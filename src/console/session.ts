import { ask } from "./ask.ts";
import type { TableEntry } from "./field.ts";

/** What `GET /integration/token` tells. @see A12 */
export interface TokenEntry {
  readonly name: string | null;
  readonly tenant: string;
  readonly scopes: readonly string[];
  readonly expires_at: string | null;
}

/** A token and what it opens; it lives in the memory of the page alone. */
export interface Session {
  readonly token: string;
  readonly entry: TokenEntry;
  readonly tables: readonly TableEntry[];
}

/** Asks what a token opens; gives the error's text when it opens nothing. */
export async function openSession(token: string): Promise<Session | string> {
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return "That is no API token: a token is one word of letters, digits and signs.";
  }
  const [entry, tables] = await Promise.all([
    ask<{ readonly token: TokenEntry }>(token, { method: "GET", path: "integration/token" }),
    ask<{ readonly tables: readonly TableEntry[] }>(token, {
      method: "GET",
      path: "integration/tables",
    }),
  ]);
  if (entry.body === undefined) return entry.error ?? "The token was refused";
  if (tables.body === undefined) return tables.error ?? "The tables could not be read";
  return { token, entry: entry.body.token, tables: tables.body.tables };
}
