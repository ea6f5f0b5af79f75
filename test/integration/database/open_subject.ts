import type { Config } from "../../../src/server/config/config.ts";
import { openDatabase } from "../../../src/database/postgres/open_database.ts";
import type { Database } from "../../../src/database/postgres/database.ts";
import type { Observation } from "../../../src/server/telemetry/observe.ts";
import type { TestDatabase } from "../../support/database.ts";

/** The database under test, on top of a test database. */
export interface Subject {
  readonly database: Database;
  readonly observations: Observation[];
}

/** Configures a database with short limits, so that striking them takes no time. */
export function configure(overrides: Partial<Config>): Config {
  return {
    host: "127.0.0.1",
    port: 0,
    databaseUrl: undefined,
    readUrl: undefined,
    replicaWaitMs: 500,
    replicaStickyMs: 5000,
    replicaMaxLagMs: 10_000,
    dataDir: "unused",
    schemas: ["public"],
    tenantColumn: "tenant_id",
    policyFile: undefined,
    timeZone: undefined,
    poolSize: 4,
    poolIdleSize: undefined,
    poolIdleMs: 60_000,
    poolWaitMs: 5000,
    statementTimeoutMs: 5000,
    lockTimeoutMs: 2000,
    requestTimeoutMs: 30_000,
    maxBodyBytes: 1_048_576,
    maxBodiesBytes: 33_554_432,
    maxUnsentBytes: 268_435_456,
    sendTimeoutMs: 20_000,
    exports: 2,
    exportsPerTenant: undefined,
    exportTimeoutMs: 600_000,
    maxInFlight: 1000,
    transactions: 3,
    transactionTimeoutMs: 4000,
    maxPatternCharacters: 2000,
    maxTsqueryCharacters: 20000,
    tokenLookUps: 2,
    maxPageBytes: 8388608,
    rateLimit: undefined,
    rateLimitScope: "process",
    prepare: true,
    tenantSetting: undefined,
    audit: false,
    auditDays: undefined,
    changesDays: 7,
    idempotencyHours: 24,
    webhookHosts: [],
    corsOrigins: [],
    console: true,
    mcp: true,
    logLevel: "silent",
    workers: 1,
    drainMs: 0,
    shutdownMs: 1000,
    ...overrides,
  };
}

/** Opens the database under test on a test database, real or embedded. */
export function openSubject(
  { url, embedded }: TestDatabase,
  overrides: Partial<Config> = {},
): Subject {
  const observations: Observation[] = [];
  const database = openDatabase(
    configure({ databaseUrl: url, ...overrides }),
    (observation) => observations.push(observation),
    embedded === undefined ? {} : { embedded },
  );
  return { database, observations };
}
