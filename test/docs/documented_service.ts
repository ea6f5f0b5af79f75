import { type App, createApp } from "../../src/app.ts";
import { followDatabase } from "../../src/catalogue/current_catalogue.ts";
import { parsePolicy } from "../../src/catalogue/policy.ts";
import { type Environment, readConfig } from "../../src/server/config/config.ts";
import type { Database } from "../../src/database/postgres/database.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { type Embedded, openEmbedded } from "../../src/database/embedded/embedded_postgres.ts";
import { DEMONSTRATION_POLICY } from "../../src/cli/demonstration/schema.ts";
import { openChanges } from "../../src/feeds/changes/changes.ts";
import { openWebhookService } from "../../src/feeds/webhooks/webhook_service.ts";
import { createMetrics } from "../../src/server/telemetry/metrics.ts";
import type { Access } from "../../src/access/tokens/token.ts";
import { embeddedTemplate } from "../support/shared_databases.ts";

/** A service as a document describes it. */
export interface DocumentedService {
  readonly app: App;
  /** For what no request can do, such as deleting rows. */
  readonly database: Database;
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

/** The access of each token of the documents; any other token is unknown. */
const ACCESSES: ReadonlyMap<string, Access> = new Map([
  ["TOKEN", ACCESS],
  ["GLOBEX_TOKEN", { ...ACCESS, tenant: "globex" }],
  ["QUERY_TOKEN", { ...ACCESS, scopes: ["query"] }],
  ["CREATE_TOKEN", { ...ACCESS, scopes: ["query", "update", "create"] }],
  ["DELETE_TOKEN", { ...ACCESS, scopes: ["query", "update", "create", "delete"] }],
  ["SYNC_TOKEN", { ...ACCESS, scopes: ["query", "update", "create", "delete"] }],
  ["WEBHOOKS_TOKEN", { ...ACCESS, scopes: ["query", "webhooks"] }],
]);

/** Starts the demonstration on the embedded Postgres, in memory, with the tokens of the documents. */
export async function startDemonstration(
  environment: Environment = { ROWGATE_WEBHOOK_HOSTS: "hooks.zapier.com,*.n8n.cloud" },
): Promise<DocumentedService> {
  const embedded = await openEmbedded({ load: await embeddedTemplate("demonstration") });
  return await startService(environment, {
    policy: JSON.stringify(DEMONSTRATION_POLICY),
    embedded,
  });
}

/** Starts a service with environment variables and the text of a policy file. */
export async function startService(
  environment: Environment,
  { policy: text, embedded }: { readonly policy: string; readonly embedded?: Embedded },
): Promise<DocumentedService> {
  const { config, problems } = readConfig(environment);
  const parsed = parsePolicy(text);
  if (config === undefined) throw new Error(problems.join("; "));
  if (!("policy" in parsed)) throw new Error(parsed.problems.join("; "));
  const observe = () => {};
  const database = openDatabase(config, observe, embedded === undefined ? {} : { embedded });
  if (embedded !== undefined) {
    // Webhooks belong to a token; that of the documents is in no table otherwise.
    await database.run(
      (sql) =>
        sql`insert into rowgate.tokens (id, digest, tenant, scopes)
          values (${ACCESS.tokenId}::text, 'none', 'acme', '{query,webhooks}')`,
      { write: true },
    );
  }
  const { schemas, tenantColumn } = config;
  const { policy } = parsed;
  const catalogue = followDatabase(database, { schemas, tenantColumn, policy, observe });
  const tokens = { find: (token: string) => Promise.resolve(ACCESSES.get(token) ?? null) };
  const changes = openChanges(database, { observe, tenantSetting: config.tenantSetting });
  const current = catalogue.current;
  // Nothing is delivered: it is not started.
  const { webhooks } = openWebhookService({
    config,
    database,
    catalogue: current,
    changes,
    observe,
  });
  return {
    app: createApp({
      config,
      database,
      catalogue,
      tokens,
      observe,
      metrics: createMetrics(),
      changes,
      webhooks,
    }),
    database,
    close() {
      changes.close();
      catalogue.close();
      return database.close(1000);
    },
  };
}
