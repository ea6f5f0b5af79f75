import { type App, createApp } from "../../src/app.ts";
import { type CurrentCatalogue, followDatabase } from "../../src/catalogue/current_catalogue.ts";
import { parsePolicy } from "../../src/catalogue/policy.ts";
import { readConfig } from "../../src/server/config/config.ts";
import type { Database } from "../../src/database/postgres/database.ts";
import { openConfiguredRateLimits } from "../../src/http/rate_limit.ts";
import { openReplicas } from "../../src/database/replicas/replicas.ts";
import { openSnapshotStandbys } from "../../src/database/replicas/snapshot_standbys.ts";
import { openDatabase } from "../../src/database/postgres/open_database.ts";
import { createMetrics } from "../../src/server/telemetry/metrics.ts";
import type { Observation } from "../../src/server/telemetry/observe.ts";
import { openChanges } from "../../src/feeds/changes/changes.ts";
import { openWebhookService } from "../../src/feeds/webhooks/webhook_service.ts";
import type { Fetch } from "../../src/feeds/webhooks/post.ts";
import { createTokenStore } from "../../src/access/tokens/store.ts";
import {
  createTestDatabase,
  type DatabaseKind,
  type Template,
  type TestDatabase,
} from "./database.ts";
import { ACCESS, ACCESS_VARIABLES } from "./access.ts";
import { FIXTURE_POLICY } from "./fixture_policy.ts";
import { type Runtime, type RuntimeServer, startServer } from "./runtime_server.ts";
import { servingRuntime } from "./serving_runtime.ts";
import { type ReceivedResponse, send, type SendOptions } from "./send.ts";
import { guardService } from "./invariants/guard_service.ts";
import { type IssueToken, issueTokens, issueWith, openOwner, type TestTokens } from "./tokens.ts";

export type { ReceivedResponse, SendOptions };

/** A service, and the database behind it. */
export interface TestService {
  readonly database: TestDatabase;
  /** The handler in this process, or one that forwards to a server on another runtime. */
  readonly app: App;
  /** The database as its owner. */
  readonly owner: Database;
  /** The database as the handler in this process uses it. */
  readonly serving: Database;
  readonly tokens: TestTokens;
  /** Makes another token. */
  readonly issue: IssueToken;
  /** Sends as tenant 1 unless a token is given. */
  readonly send: (method: string, path: string, options?: SendOptions) => Promise<ReceivedResponse>;
  /** What the handler in this process knows of the database. */
  readonly catalogue: CurrentCatalogue;
  /** What the handler reported; nothing from another process. */
  readonly observations: Observation[];
  /** The process that serves; undefined when this one does. */
  readonly server: RuntimeServer | undefined;
  /** Forgets what was observed and sent, for the next group of tests. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

/** How a service of the tests differs from the ordinary one. */
export interface ServiceOptions {
  readonly environment?: Record<string, string>;
  /** In place of the fixture's policy. */
  readonly policy?: unknown;
  readonly template?: Template;
  /** Served in place of a database of its own; `close` leaves it as it is. */
  readonly database?: TestDatabase;
  /** What serves, in a process of its own; left out: what the run says, or this process. */
  readonly runtime?: Runtime;
  /** URL of a cluster other than that of the tests. */
  readonly cluster?: string;
  /** Returns the URL that the service connects to in place of its database's, such as a proxy's. */
  readonly route?: (databaseUrl: string) => Promise<string>;
  /** Sends to webhooks; left out, none is delivered in this process. */
  readonly fetch?: Fetch;
  /** Is called with each line of the log of a server in another process. */
  readonly logged?: (line: string) => void;
  /** The clock by which this process forgets tokens and writes, so that a test need not wait. */
  readonly now?: () => number;
}

/** True when the tests ask a server in another process. */
export const IS_REMOTE: boolean = servingRuntime() !== undefined;

/** Makes a service on a database of its own, unless another is given; `close` drops both. */
export async function createTestService(
  kind: DatabaseKind,
  options: ServiceOptions = {},
): Promise<TestService> {
  const { template, cluster } = options;
  const database = options.database ??
    await createTestDatabase(kind, template, { cluster, served: true });
  const observations: Observation[] = [];
  const metrics = createMetrics();
  const observe = (observation: Observation) => {
    observations.push(observation);
    metrics.observe(observation);
    guard.observe(observation);
  };
  const { servingUrl } = database;
  const databaseUrl = servingUrl && await options.route?.(servingUrl) || servingUrl;
  const environment = {
    ...(databaseUrl === undefined ? {} : { DATABASE_URL: databaseUrl }),
    ROWGATE_POOL_SIZE: "4",
    ...(kind === "real" ? ACCESS_VARIABLES[ACCESS ?? "plain"] : {}),
    ...options.environment,
  };
  const { config, problems } = readConfig(environment);
  if (config === undefined) throw new Error(problems.join("\n"));
  const policyText = JSON.stringify(options.policy ?? FIXTURE_POLICY);
  const parsed = parsePolicy(policyText);
  if (!("policy" in parsed)) throw new Error(parsed.problems.join("\n"));
  const { policy } = parsed;
  const { schemas, tenantColumn } = config;
  const { tables } = { tables: {}, ...options.policy ?? FIXTURE_POLICY };
  const guard = guardService({ test: database, rules: { schemas, tenantColumn, tables }, metrics });

  const { embedded } = database;
  const opened = openDatabase(config, observe, embedded && { embedded });
  const owner = openOwner(database, opened);
  const serving = guard.database(opened);
  const issue = issueWith(owner, guard.issued);
  const tokens = await issueTokens(database, { owner, issue });
  const runtime = options.runtime ?? servingRuntime();
  const server = runtime && await startServer(runtime, {
    environment,
    policyText,
    logged(line) {
      guard.logged(line);
      options.logged?.(line);
    },
  });
  const catalogue = followDatabase(serving, {
    ...{ schemas, tenantColumn, policy, observe },
    timeZone: config.timeZone,
    tenantSetting: config.tenantSetting ?? null,
  });
  const store = createTokenStore(serving, { ...config, observe, now: options.now });
  const replicas = openReplicas(config, { database: opened, observe, now: options.now });
  const changes = openChanges(serving, {
    observe,
    tenantSetting: config.tenantSetting,
    standbys: replicas && openSnapshotStandbys(replicas),
  });
  const hooks = openWebhookService({
    ...{ config, database: serving, catalogue: catalogue.current, changes, observe },
    fetch: options.fetch,
  });
  if (options.fetch !== undefined) hooks.start();
  const rateLimits = openConfiguredRateLimits(config, { database: opened, observe });
  const app = guard.app(
    server?.app ??
      createApp({
        config,
        database: serving,
        catalogue,
        tokens: guard.tokens(store),
        observe,
        metrics,
        changes,
        webhooks: hooks.webhooks,
        replicas,
        rateLimits,
      }),
  );
  return {
    database,
    app,
    owner,
    serving,
    tokens,
    issue,
    catalogue,
    observations,
    server,
    forget: () => {
      observations.length = 0;
      guard.forget();
    },
    send: (method, path, request) => {
      guard.sent(`"${path}" ${JSON.stringify(request)}`);
      return send(app, tokens.a, { method, path, ...request });
    },
    close: async () => {
      guard.close();
      await server?.stop();
      changes.close();
      await hooks.close(1000);
      catalogue.close();
      await rateLimits?.close();
      await replicas?.close(1000);
      if (owner !== opened) await owner.close(1000);
      await serving.close(1000);
      if (options.database === undefined) await database.drop();
    },
  };
}
