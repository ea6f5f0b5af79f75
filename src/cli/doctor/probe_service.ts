import { DEFAULT_SCOPES } from "../../access/scopes.ts";
import { createApp } from "../../app.ts";
import type { Access, TokenStore } from "../../access/tokens/token.ts";
import type { Setup } from "./diagnosis.ts";

/** The response to a probe. */
export interface ProbeResponse {
  readonly status: number;
  readonly records: readonly Readonly<Record<string, unknown>>[];
}

/** A request for one table. */
export interface ProbeRequest {
  readonly table: string;
  /** `query` reads; `single` would update, and is rolled back. */
  readonly operation: "query" | "single";
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request as a tenant, through the code that serves. */
export type Probe = (tenant: string, request: ProbeRequest) => Promise<ProbeResponse>;

/** Far longer than a check takes. */
const LIFE_MS = 600_000;

/**
 * Opens the service within this process, with tokens that exist nowhere else: a token is the place of
 * the tenant in a list, and the database does not know it.
 */
export function openProbe(setup: Setup): Probe {
  const tenants: string[] = [];
  const tokens: TokenStore = {
    find: (token) => Promise.resolve(toAccess(tenants[Number(token.slice("doctor-".length))])),
  };
  const { config, database, currentCatalogue: catalogue, metrics } = setup;
  const app = createApp({
    config: { ...config, rateLimit: undefined },
    database,
    catalogue,
    tokens,
    observe: () => {},
    metrics,
  });

  return async function probe(tenant, { table, operation, body }) {
    const place = tenants.includes(tenant) ? tenants.indexOf(tenant) : tenants.push(tenant) - 1;
    const path = operation === "query" ? "query" : "records/single";
    const request = new Request(`http://doctor/integration/tables/${table}/${path}`, {
      method: operation === "query" ? "POST" : "PATCH",
      headers: {
        "authorization": `Bearer doctor-${place}`,
        "content-type": "application/json",
        "accept": "application/json;IEEE754Compatible=true",
        "prefer": operation === "query" ? "count=none" : "tx=rollback",
      },
      body: JSON.stringify(body),
    });
    const response = await app(request);
    const { records = [] } = await response.json() as { records?: ProbeResponse["records"] };
    return { status: response.status, records };
  };
}

function toAccess(tenant: string | undefined): Access | null {
  if (tenant === undefined) return null;
  return {
    tokenId: "doctor",
    name: null,
    tenant,
    scopes: DEFAULT_SCOPES,
    tables: null,
    expiresAt: new Date(Date.now() + LIFE_MS),
  };
}
