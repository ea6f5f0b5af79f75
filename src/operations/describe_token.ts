import type { Answer, Call } from "./call.ts";

/**
 * Tells the holder of a token what it is and allows.
 * @see A12
 */
export function describeToken({ access }: Call): Answer {
  const token = {
    id: access.tokenId,
    name: access.name,
    tenant: access.tenant,
    scopes: access.scopes,
    tables: access.tables,
    expires_at: access.expiresAt?.toISOString() ?? null,
  };
  return { json: JSON.stringify({ success: true, token }) };
}
