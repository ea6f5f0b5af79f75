import type { Table } from "../catalogue/catalogue.ts";
import type { Config } from "../server/config/config.ts";
import { nameRequest, readIdempotencyKey } from "../http/idempotency_key.ts";
import type { Preferences } from "../http/preferences.ts";
import type { Exchange } from "../http/respond.ts";
import type { Idempotency } from "../records/plan/idempotency.ts";
import type { Access } from "../access/tokens/token.ts";
import type { RecordsOperation } from "./operation.ts";

/** The request whose response is stored. */
interface KeptRequest {
  readonly operation: RecordsOperation;
  readonly table: Table;
  readonly access: Access;
  readonly exchange: Exchange;
  readonly preferences: Preferences;
  readonly config: Config;
}

/**
 * Returns the key under which the response to a request is stored. Undefined if nothing is stored:
 * there is no key, the operation only reads, or it is a dry run.
 * @throws {ApiError} 400 the key is malformed
 * @see docs/specification/idempotency.md
 */
export async function readIdempotency(
  body: string,
  { operation, table, access, exchange, preferences, config }: KeptRequest,
): Promise<Idempotency | undefined> {
  const key = operation.scope === "query" ? undefined : readIdempotencyKey(exchange.request);
  if (key === undefined || preferences.rollback) return undefined;
  const request = await nameRequest({
    tenant: access.tenant,
    operation: operation.name,
    schema: table.stored.schema,
    table: table.name,
    preferences: nameTerms(preferences, exchange.request),
    body,
  });
  return { tokenId: access.tokenId, key, request, hours: config.idempotencyHours };
}

/** Names all that the headers change of the answer. */
function nameTerms({ applied }: Preferences, { headers }: Request): string | undefined {
  const ifMatch = headers.get("if-match");
  return ifMatch === null ? applied : `${applied ?? ""} If-Match: ${ifMatch}`;
}
