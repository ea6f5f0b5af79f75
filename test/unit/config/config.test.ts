import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readConfig } from "../../../src/server/config/config.ts";

/** Defaults as docs/specification/running.md has them. */
const DEFAULTS = {
  host: "127.0.0.1",
  port: 8080,
  databaseUrl: undefined,
  readUrl: undefined,
  replicaWaitMs: 500,
  replicaStickyMs: 5000,
  replicaMaxLagMs: 10_000,
  dataDir: "./rowgate-data",
  schemas: ["public"],
  tenantColumn: "tenant_id",
  policyFile: undefined,
  timeZone: undefined,
  poolSize: 10,
  poolIdleSize: undefined,
  poolIdleMs: 60_000,
  poolWaitMs: 5000,
  transactions: 3,
  transactionTimeoutMs: 4000,
  statementTimeoutMs: 30000,
  lockTimeoutMs: 5000,
  requestTimeoutMs: 30000,
  maxBodyBytes: 1048576,
  maxBodiesBytes: 33554432,
  maxUnsentBytes: 268435456,
  sendTimeoutMs: 20000,
  exports: 2,
  exportsPerTenant: undefined,
  exportTimeoutMs: 600_000,
  maxInFlight: 1000,
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
  logLevel: "info",
  workers: 1,
  drainMs: 0,
  shutdownMs: 30000,
};

const REJECTED: Readonly<Record<string, readonly string[]>> = {
  HOST: ["", "a b", "http://x"],
  PORT: ["", " ", "-1", "65536", "80a", "1e3", "0x10"],
  DATABASE_URL: ["", "db:5432/shop", "https://db/shop"],
  ROWGATE_SCHEMA: [
    ...["pg_catalog", "pg_temp", "information_schema", "rowgate", "x".repeat(64), "public,", ","],
    ...['"pg_catalog"', 'public,"rowgate"', '""', '"a', 'public,"a"b', 'a,"a"', "public,public"],
  ],
  ROWGATE_TENANT_COLUMN: ["", "ü".repeat(32)],
  ROWGATE_POOL_SIZE: ["0", "-3", "1.5", "1001"],
  ROWGATE_POOL_IDLE_SIZE: ["-1", "all", "1001"],
  ROWGATE_POOL_IDLE_MS: ["0", "999", "1d"],
  ROWGATE_STATEMENT_TIMEOUT_MS: ["0", "9", "3600001", "30s"],
  ROWGATE_MAX_BODY_BYTES: ["1023", "999999999"],
  ROWGATE_MAX_BODIES_BYTES: ["65535", "off"],
  ROWGATE_MAX_UNSENT_BYTES: ["65535", "off"],
  ROWGATE_SEND_TIMEOUT_MS: ["0", "off"],
  ROWGATE_EXPORTS: ["0", "101", "two"],
  ROWGATE_EXPORTS_PER_TENANT: ["0", "101", "one"],
  ROWGATE_EXPORT_TIMEOUT_MS: ["0", "99", "10m"],
  ROWGATE_MAX_TSQUERY_CHARACTERS: ["0", "1000001", "off"],
  ROWGATE_TOKEN_LOOKUPS: ["0", "1001", "1.5"],
  ROWGATE_RATE_LIMIT: ["", "0/s", "600", "600/m", "600/day", "1.5/s", "-1/s", "1000001/h", "on"],
  ROWGATE_RATE_LIMIT_SCOPE: ["", "on", "all", "instance"],
  ROWGATE_AUDIT: ["true", "ON"],
  ROWGATE_AUDIT_DAYS: ["0", "-1", "1.5", "36501", "30d", "off"],
  ROWGATE_IDEMPOTENCY_HOURS: ["0", "-1", "1.5", "8761", "24h", "off"],
  ROWGATE_CHANGES_DAYS: ["0", "-1", "1.5", "36501", "30d", "off"],
  ROWGATE_WEBHOOK_HOSTS: ["*", "*.com", "https://hooks.zapier.com", "127.0.0.1", "a.example,,"],
  ROWGATE_PREPARE: ["true", "ON"],
  ROWGATE_TENANT_SETTING: ["tenant", "app.", "a b.c", "app.x; drop"],
  ROWGATE_CORS_ORIGINS: ["app.example", "https://a.example/", "https://a.example,"],
  ROWGATE_LOG_LEVEL: ["verbose"],
  ROWGATE_CONSOLE: ["maybe"],
  ROWGATE_MCP: ["yes"],
  ROWGATE_WORKERS: ["0", "65", "1.5", "AUTO", "on"],
};

function problemsOf(environment: Record<string, string>): readonly string[] {
  return readConfig(environment).problems ?? [];
}

describe("readConfig", () => {
  it("has the defaults of the table [R8] [R9] [R10] [R12] [R13] [R14] [R15] [R16] [R18] [R19] [R21] [R20] [R24] [R27] [R29]", () => {
    const { config } = readConfig({});
    assertEquals<unknown>({ ...config }, DEFAULTS);
  });

  it("reads every variable of the table [R26]", () => {
    const { config } = readConfig({
      HOST: "::",
      PORT: "0",
      DATABASE_URL: "postgres://app:secret@db:5432/shop",
      DATABASE_READ_URL: "postgres://u:p@replica/d",
      ROWGATE_REPLICA_WAIT_MS: "0",
      ROWGATE_REPLICA_STICKY_MS: "1000",
      ROWGATE_REPLICA_MAX_LAG_MS: "2000",
      ROWGATE_DATA_DIR: "/data",
      ROWGATE_SCHEMA: "app",
      ROWGATE_TENANT_COLUMN: "org-id",
      ROWGATE_POLICY: "policy.json",
      ROWGATE_TIME_ZONE: "Europe/Berlin",
      ROWGATE_POOL_SIZE: "3",
      ROWGATE_POOL_IDLE_SIZE: "2",
      ROWGATE_POOL_IDLE_MS: "1000",
      ROWGATE_POOL_WAIT_MS: "100",
      ROWGATE_TRANSACTIONS: "2",
      ROWGATE_TRANSACTION_TIMEOUT_MS: "90",
      ROWGATE_STATEMENT_TIMEOUT_MS: "200",
      ROWGATE_LOCK_TIMEOUT_MS: "300",
      ROWGATE_REQUEST_TIMEOUT_MS: "400",
      ROWGATE_MAX_BODY_BYTES: "2048",
      ROWGATE_MAX_BODIES_BYTES: "65536",
      ROWGATE_MAX_UNSENT_BYTES: "65537",
      ROWGATE_SEND_TIMEOUT_MS: "500",
      ROWGATE_EXPORTS: "4",
      ROWGATE_EXPORTS_PER_TENANT: "3",
      ROWGATE_EXPORT_TIMEOUT_MS: "90000",
      ROWGATE_MAX_IN_FLIGHT: "5",
      ROWGATE_MAX_PATTERN_CHARACTERS: "900",
      ROWGATE_MAX_TSQUERY_CHARACTERS: "901",
      ROWGATE_TOKEN_LOOKUPS: "4",
      ROWGATE_MAX_PAGE_BYTES: "70000",
      ROWGATE_PREPARE: "off",
      ROWGATE_TENANT_SETTING: "app.tenant_id",
      ROWGATE_CORS_ORIGINS: "https://a.example, http://localhost:3000",
      ROWGATE_LOG_LEVEL: "warn",
      ROWGATE_WORKERS: "auto",
      ROWGATE_DRAIN_MS: "8000",
      ROWGATE_SHUTDOWN_MS: "0",
      ROWGATE_CONSOLE: "off",
      ROWGATE_MCP: "off",
      ROWGATE_AUDIT: "on",
      ROWGATE_AUDIT_DAYS: "365",
      ROWGATE_CHANGES_DAYS: "30",
      ROWGATE_IDEMPOTENCY_HOURS: "48",
      ROWGATE_WEBHOOK_HOSTS: "hooks.zapier.com,*.n8n.cloud:8443",
      ROWGATE_RATE_LIMIT: "600/min",
      ROWGATE_RATE_LIMIT_SCOPE: "instances",
    });
    assertEquals<unknown>({ ...config }, {
      host: "::",
      port: 0,
      databaseUrl: "postgres://app:secret@db:5432/shop",
      readUrl: "postgres://u:p@replica/d",
      replicaWaitMs: 0,
      replicaStickyMs: 1000,
      replicaMaxLagMs: 2000,
      dataDir: "/data",
      schemas: ["app"],
      tenantColumn: "org-id",
      policyFile: "policy.json",
      timeZone: "Europe/Berlin",
      poolSize: 3,
      poolIdleSize: 2,
      poolIdleMs: 1000,
      poolWaitMs: 100,
      transactions: 2,
      transactionTimeoutMs: 90,
      statementTimeoutMs: 200,
      lockTimeoutMs: 300,
      requestTimeoutMs: 400,
      maxBodyBytes: 2048,
      maxBodiesBytes: 65536,
      maxUnsentBytes: 65537,
      sendTimeoutMs: 500,
      exports: 4,
      exportsPerTenant: 3,
      exportTimeoutMs: 90_000,
      maxInFlight: 5,
      maxPatternCharacters: 900,
      maxTsqueryCharacters: 901,
      tokenLookUps: 4,
      maxPageBytes: 70000,
      rateLimit: { requests: 600, windowSeconds: 60 },
      rateLimitScope: "instances",
      prepare: false,
      tenantSetting: "app.tenant_id",
      audit: true,
      auditDays: 365,
      changesDays: 30,
      idempotencyHours: 48,
      webhookHosts: [
        { name: "hooks.zapier.com", below: false, port: 443 },
        { name: "n8n.cloud", below: true, port: 8443 },
      ],
      corsOrigins: ["https://a.example", "http://localhost:3000"],
      console: false,
      mcp: false,
      logLevel: "warn",
      workers: "auto",
      drainMs: 8000,
      shutdownMs: 0,
    });
    assert(Object.isFrozen(config));
  });

  for (
    const [text, names] of [
      ["public,sales", ["public", "sales"]],
      [" old stock , Sales ", ["old stock", "Sales"]],
      ['public,"Sales, ""old""", a"b', ["public", 'Sales, "old"', 'a"b']],
      ['"x"," "', ["x", " "]],
    ] as const
  ) {
    it(`reads ROWGATE_SCHEMA=${text} [R9]`, () => {
      assertEquals(readConfig({ ROWGATE_SCHEMA: text }).config?.schemas, names);
    });
  }

  it("says how a schema with a comma in its name is written [R9]", () => {
    assertEquals(problemsOf({ ROWGATE_SCHEMA: 'public,"a' }), [
      'ROWGATE_SCHEMA: "public,\\"a" cannot be used, expected names with commas between them, ' +
      'one that has a comma in double quotes: public,"a, b"',
    ]);
  });

  it("gives a transaction less time than a request waits for a connection", () => {
    const read = (environment: Record<string, string>) => readConfig(environment);
    assertEquals(read({ ROWGATE_POOL_WAIT_MS: "1000" }).config?.transactionTimeoutMs, 800);
    assertEquals(read({ ROWGATE_TRANSACTION_TIMEOUT_MS: "5000" }).problems, [
      "ROWGATE_TRANSACTION_TIMEOUT_MS: 5000 is too long, " +
      "expected less than ROWGATE_POOL_WAIT_MS (5000)",
    ]);
  });

  it("keeps no more connections without requests than there are [R49]", () => {
    assertEquals(readConfig({ ROWGATE_POOL_SIZE: "4", ROWGATE_POOL_IDLE_SIZE: "5" }).problems, [
      "ROWGATE_POOL_IDLE_SIZE: 5 is too many, expected at most ROWGATE_POOL_SIZE (4)",
    ]);
  });

  for (
    const [text, rateLimit] of [
      ["off", undefined],
      ["10/s", { requests: 10, windowSeconds: 1 }],
      ["5000/h", { requests: 5000, windowSeconds: 3600 }],
      ["1000000/min", { requests: 1_000_000, windowSeconds: 60 }],
    ] as const
  ) {
    it(`reads ROWGATE_RATE_LIMIT=${text} [R21]`, () => {
      assertEquals(readConfig({ ROWGATE_RATE_LIMIT: text }).config?.rateLimit, rateLimit);
    });
  }

  it("explains how a rate limit is written [R21]", () => {
    assertEquals(problemsOf({ ROWGATE_RATE_LIMIT: "600/day" }), [
      'ROWGATE_RATE_LIMIT: "600/day" cannot be used, expected off, or at most 1000000 requests in a window: 10/s, 600/min, 5000/h',
    ]);
  });

  it("reports all problems at once [R7]", () => {
    const problems = problemsOf({ PORT: "80a", ROWGATE_SCHEMA: "rowgate", ROWGATE_PREPARE: "yes" });
    assertEquals(problems.map((problem) => problem.split(":")[0]), [
      "PORT",
      "ROWGATE_SCHEMA",
      "ROWGATE_PREPARE",
    ]);
  });

  for (const [name, values] of Object.entries(REJECTED)) {
    for (const value of values) {
      it(`rejects ${name}=${JSON.stringify(value)} [R7] [R26]`, () => {
        const problems = problemsOf({ [name]: value });
        assertEquals(problems.length, 1);
        assert(problems[0]?.startsWith(`${name}: `), problems[0]);
      });
    }
  }

  it("says that a schema of Postgres itself cannot be exposed [CF8]", () => {
    for (const ROWGATE_SCHEMA of ["pg_catalog", "information_schema"]) {
      assertMatch(problemsOf({ ROWGATE_SCHEMA }).join(), /^ROWGATE_SCHEMA: .*cannot be exposed/);
    }
  });

  it("suggests the nearest variable for an unknown one [CF3]", () => {
    assertEquals(problemsOf({ ROWGATE_POOLSIZE: "3", OTHER: "x" }), [
      "ROWGATE_POOLSIZE: unknown variable, did you mean ROWGATE_POOL_SIZE?",
    ]);
  });

  it("never shows the password of DATABASE_URL [CF2]", () => {
    for (const url of ["mysql://app:hunter2@db/shop", "postgres://app:hunter2 @db/shop"]) {
      const problems = problemsOf({ DATABASE_URL: url });
      assertEquals(problems.length, 1);
      assert(!problems.join().includes("hunter2"));
    }
  });
});
