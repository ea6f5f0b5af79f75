import type { App } from "../../src/app.ts";
import { createApp } from "../../src/app.ts";
import { followDatabase } from "../../src/catalogue/current.ts";
import { parsePolicy } from "../../src/catalogue/policy.ts";
import { readConfig } from "../../src/config.ts";
import { openDatabase } from "../../src/database/client.ts";
import { openEmbedded } from "../../src/database/embedded.ts";
import { fillDemonstration } from "../../src/demonstration/fill.ts";
import { DEMONSTRATION_POLICY } from "../../src/demonstration/policy.ts";
import type { Access } from "../../src/tokens/token.ts";

/** The service on a demonstration of its own, in memory. */
export interface DemonstrationService {
  readonly app: App;
  readonly close: () => Promise<void>;
}

const ACCESS: Access = {
  tokenId: "hVn3Kq7Tz2Y",
  name: "ERP",
  tenant: "acme",
  scopes: ["query", "update"],
  tables: null,
  expiresAt: new Date("2027-01-31T00:00:00Z"),
};

/** What a token of the documents speaks for; any other one is unknown. */
const ACCESSES: ReadonlyMap<string, Access> = new Map([
  ["TOKEN", ACCESS],
  ["GLOBEX_TOKEN", { ...ACCESS, tenant: "globex" }],
  ["QUERY_TOKEN", { ...ACCESS, scopes: ["query"] }],
]);

/** Starts the service as the embedded default does, with the tokens that the documents name. */
export async function startDemonstration(): Promise<DemonstrationService> {
  const { config } = readConfig({});
  const parsed = parsePolicy(JSON.stringify(DEMONSTRATION_POLICY));
  if (config === undefined || !("policy" in parsed)) throw new Error("the defaults are refused");
  const observe = () => {};
  const database = await openDatabase(config, observe, { embedded: await openEmbedded() });
  await fillDemonstration(database);
  const { schema, tenantColumn } = config;
  const { policy } = parsed;
  const catalogue = followDatabase(database, { schema, tenantColumn, policy, observe });
  const tokens = { find: (token: string) => Promise.resolve(ACCESSES.get(token) ?? null) };
  return {
    app: createApp({ config, database, catalogue, tokens, observe }),
    close() {
      catalogue.close();
      return database.close(1000);
    },
  };
}
