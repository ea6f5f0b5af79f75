import { createApp } from "../../../src/app.ts";
import { followDatabase } from "../../../src/catalogue/current_catalogue.ts";
import { createMetrics } from "../../../src/server/telemetry/metrics.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";
import { readConfig } from "../../../src/server/config/config.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import { openConfiguredRateLimits } from "../../../src/http/rate_limit.ts";
import { openReplicas } from "../../../src/database/replicas/replicas.ts";
import type { Observe } from "../../../src/server/telemetry/observe.ts";
import { createTokenStore } from "../../../src/access/tokens/store.ts";
import { ACCESS, ACCESS_VARIABLES } from "../../support/access.ts";
import type { TestDatabase } from "../../support/database.ts";
import { type ReceivedResponse, send, type SendOptions } from "../../support/send.ts";

/** Another service on the same database, which shares nothing with the first but that. */
export interface SecondInstance {
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<ReceivedResponse>;
  readonly close: () => Promise<void>;
}

/** Starts another service in this process; it asks with the given token, of tenant 1. */
export function openSecondInstance(
  { servingUrl, rows }: TestDatabase,
  token: string,
  environment: Readonly<Record<string, string>> = {},
  { observe = () => {}, now }: { readonly observe?: Observe; readonly now?: () => number } = {},
): SecondInstance {
  const { config, problems } = readConfig({
    DATABASE_URL: servingUrl ?? "",
    ROWGATE_POOL_SIZE: "4",
    ...ACCESS_VARIABLES[ACCESS ?? "plain"],
    ...environment,
  });
  if (config === undefined) throw new Error(problems.join("\n"));
  const database = openDatabase(config, observe);
  const { schemas, tenantColumn } = config;
  const catalogue = followDatabase(database, {
    schemas,
    tenantColumn,
    policy: EMPTY_POLICY,
    observe,
  });
  const replicas = openReplicas(config, { database, observe, now });
  const rateLimits = openConfiguredRateLimits(config, { database, observe });
  const app = createApp({
    config,
    database,
    catalogue,
    tokens: createTokenStore(database, { now }),
    metrics: createMetrics(),
    observe,
    replicas,
    rateLimits,
  });
  return {
    send: async (method, path, options) => {
      const end = await rows.start("1");
      try {
        return await send(app, token, { method, path, ...options });
      } finally {
        end();
      }
    },
    close: async () => {
      catalogue.close();
      await rateLimits?.close();
      await replicas?.close(1000);
      await database.close(1000);
    },
  };
}
