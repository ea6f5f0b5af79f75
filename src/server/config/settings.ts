import {
  MAX_PAGE_BYTES,
  MAX_PATTERN_CHARACTERS,
  MAX_TSQUERY_CHARACTERS,
  TOKEN_LOOK_UPS,
} from "../../basics/errors/limits.ts";
import type { Config } from "./config_values.ts";
import { type Setting, setting } from "./setting.ts";
import {
  countOrAuto,
  databaseUrl,
  daysOrNone,
  host,
  identifier,
  logLevel,
  onOffOrAuto,
  onOrOff,
  origins,
  path,
  rateLimit,
  rateLimitScope,
  schemas,
  tenantSetting,
  timeZone,
  webhookHosts,
  wholeNumber,
} from "./shapes.ts";

/** Variable that holds the token of commands that ask a running server: it is no setting. */
export const TOKEN_VARIABLE = "ROWGATE_TOKEN";

/**
 * Every setting, in the order of the help text. To add one, add its member to `Config`; the compiler
 * then asks for its entry here, and the help text and the check of the documentation follow.
 * @see docs/specification/running.md#configuration
 */
export const SETTINGS: { readonly [Name in keyof Config]: Setting<Config[Name]> } = {
  host: setting("HOST", host, { default: "127.0.0.1", help: "Address to listen on" }),
  port: setting("PORT", wholeNumber(0, 65_535), {
    default: 8080,
    help: "Port to listen on; 0 picks a free one",
  }),
  databaseUrl: setting("DATABASE_URL", databaseUrl, {
    default: undefined,
    secret: true,
    help: "postgres://user:password@host/db; without it, an embedded Postgres",
  }),
  readUrl: setting("DATABASE_READ_URL", databaseUrl, {
    default: undefined,
    secret: true,
    help: "Standbys for queries: postgres://user:password@a,b/db",
  }),
  replicaWaitMs: setting("ROWGATE_REPLICA_WAIT_MS", wholeNumber(0, 60_000), {
    default: 500,
    help: "Longest wait for a write to reach a standby",
  }),
  replicaStickyMs: setting("ROWGATE_REPLICA_STICKY_MS", wholeNumber(0, 3_600_000), {
    default: 5000,
    help: "Time after a write in which its token reads the primary",
  }),
  replicaMaxLagMs: setting("ROWGATE_REPLICA_MAX_LAG_MS", wholeNumber(100, 86_400_000), {
    default: 10_000,
    help: "Lag from which on a standby gets no queries",
  }),
  dataDir: setting("ROWGATE_DATA_DIR", path, {
    default: "./rowgate-data",
    help: "Directory of the embedded Postgres",
  }),
  schemas: setting("ROWGATE_SCHEMA", schemas, {
    default: ["public"],
    help: "Schemas whose tables are exposed: public,sales",
  }),
  tenantColumn: setting("ROWGATE_TENANT_COLUMN", identifier, {
    default: "tenant_id",
    help: "Column that holds the tenant of a row",
  }),
  policyFile: setting("ROWGATE_POLICY", path, {
    default: undefined,
    help: "Path of the policy file",
  }),
  timeZone: setting("ROWGATE_TIME_ZONE", timeZone, {
    default: undefined,
    help: "Time zone of columns that have none; by default the database's",
  }),
  poolSize: setting("ROWGATE_POOL_SIZE", wholeNumber(1, 1000), {
    default: 10,
    help: "Connections to the database",
  }),
  poolIdleSize: setting("ROWGATE_POOL_IDLE_SIZE", wholeNumber(0, 1000), {
    default: undefined,
    help: "Connections that stay open when idle; by default all",
  }),
  poolIdleMs: setting("ROWGATE_POOL_IDLE_MS", wholeNumber(1000, 86_400_000), {
    default: 60_000,
    help: "Idle time after which the others are closed",
  }),
  poolWaitMs: setting("ROWGATE_POOL_WAIT_MS", wholeNumber(10, 600_000), {
    default: 5000,
    help: "Longest wait for a free connection",
  }),
  transactions: setting("ROWGATE_TRANSACTIONS", wholeNumber(1, 100), {
    default: 3,
    help: "Connections for transactions, besides the pool",
  }),
  transactionTimeoutMs: setting("ROWGATE_TRANSACTION_TIMEOUT_MS", wholeNumber(10, 600_000), {
    default: 4000,
    help: "Longest transaction; by default 4/5 of ROWGATE_POOL_WAIT_MS",
  }),
  statementTimeoutMs: setting("ROWGATE_STATEMENT_TIMEOUT_MS", wholeNumber(10, 3_600_000), {
    default: 30_000,
    help: "Longest statement",
  }),
  lockTimeoutMs: setting("ROWGATE_LOCK_TIMEOUT_MS", wholeNumber(10, 3_600_000), {
    default: 5000,
    help: "Longest wait for a locked row",
  }),
  requestTimeoutMs: setting("ROWGATE_REQUEST_TIMEOUT_MS", wholeNumber(100, 3_600_000), {
    default: 30_000,
    help: "Longest time for a request to arrive",
  }),
  maxBodyBytes: setting("ROWGATE_MAX_BODY_BYTES", wholeNumber(1024, 104_857_600), {
    default: 1_048_576,
    help: "Largest request body",
  }),
  maxBodiesBytes: setting("ROWGATE_MAX_BODIES_BYTES", wholeNumber(65_536, 1_099_511_627_776), {
    default: 33_554_432,
    help: "Total size of the request bodies in memory",
  }),
  maxUnsentBytes: setting("ROWGATE_MAX_UNSENT_BYTES", wholeNumber(65_536, 1_099_511_627_776), {
    default: 268_435_456,
    help: "Total size of the long responses that are not sent yet",
  }),
  sendTimeoutMs: setting("ROWGATE_SEND_TIMEOUT_MS", wholeNumber(100, 3_600_000), {
    default: 20_000,
    help: "Longest pause of a client that reads a response",
  }),
  exports: setting("ROWGATE_EXPORTS", wholeNumber(1, 100), {
    default: 2,
    help: "Exports at the same time, each with a connection of its own",
  }),
  exportsPerTenant: setting("ROWGATE_EXPORTS_PER_TENANT", wholeNumber(1, 100), {
    default: undefined,
    help: "Exports of one tenant at the same time; by default as many",
  }),
  exportTimeoutMs: setting("ROWGATE_EXPORT_TIMEOUT_MS", wholeNumber(100, 86_400_000), {
    default: 600_000,
    help: "Longest export",
  }),
  maxInFlight: setting("ROWGATE_MAX_IN_FLIGHT", wholeNumber(1, 1_000_000), {
    default: 1000,
    help: "Requests at the same time",
  }),
  maxPageBytes: setting("ROWGATE_MAX_PAGE_BYTES", wholeNumber(65_536, 33_554_432), {
    default: MAX_PAGE_BYTES,
    help: "Largest page of records",
  }),
  maxPatternCharacters: setting("ROWGATE_MAX_PATTERN_CHARACTERS", wholeNumber(1, 1_000_000), {
    default: MAX_PATTERN_CHARACTERS,
    help: "Characters in all patterns of a query",
  }),
  maxTsqueryCharacters: setting("ROWGATE_MAX_TSQUERY_CHARACTERS", wholeNumber(1, 1_000_000), {
    default: MAX_TSQUERY_CHARACTERS,
    help: "Characters in a value of type tsquery",
  }),
  tokenLookUps: setting("ROWGATE_TOKEN_LOOKUPS", wholeNumber(1, 1000), {
    default: TOKEN_LOOK_UPS,
    help: "Statements at the same time that look up unknown tokens",
  }),
  rateLimit: setting("ROWGATE_RATE_LIMIT", rateLimit, {
    default: undefined,
    defaultText: "off",
    help: "Requests of each token: 10/s, 600/min, 5000/h",
  }),
  rateLimitScope: setting("ROWGATE_RATE_LIMIT_SCOPE", rateLimitScope, {
    default: "process",
    help: "process, or instances for one limit of all processes",
  }),
  prepare: setting("ROWGATE_PREPARE", onOffOrAuto, {
    default: true,
    help: "Prepared statements; off behind a transaction pooler; auto",
  }),
  tenantSetting: setting("ROWGATE_TENANT_SETTING", tenantSetting, {
    default: undefined,
    help: "Setting that your row level security reads: app.tenant_id",
  }),
  audit: setting("ROWGATE_AUDIT", onOrOff, {
    default: false,
    help: "Record each update in rowgate.audit",
  }),
  auditDays: setting("ROWGATE_AUDIT_DAYS", daysOrNone(36_500), {
    default: undefined,
    help: "Days after which audit records are deleted",
  }),
  changesDays: setting("ROWGATE_CHANGES_DAYS", wholeNumber(1, 36_500), {
    default: 7,
    help: "Days for which a changes feed can be resumed",
  }),
  idempotencyHours: setting("ROWGATE_IDEMPOTENCY_HOURS", wholeNumber(1, 8760), {
    default: 24,
    help: "Hours for which an answer is kept under its Idempotency-Key",
  }),
  webhookHosts: setting("ROWGATE_WEBHOOK_HOSTS", webhookHosts, {
    default: [],
    help: "Hosts that webhooks may call: hooks.zapier.com,*.n8n.cloud",
  }),
  corsOrigins: setting("ROWGATE_CORS_ORIGINS", origins, {
    default: [],
    help: "Origins that browsers may call from, separated by commas",
  }),
  console: setting("ROWGATE_CONSOLE", onOrOff, { default: true, help: "Serve the console at /" }),
  mcp: setting("ROWGATE_MCP", onOrOff, { default: true, help: "Serve agents (MCP) at /mcp" }),
  logLevel: setting("ROWGATE_LOG_LEVEL", logLevel, {
    default: "info",
    help: "debug, info, warn, error or silent",
  }),
  workers: setting("ROWGATE_WORKERS", countOrAuto(64), {
    default: 1,
    help: "Processes that serve; auto: one for each processor",
  }),
  drainMs: setting("ROWGATE_DRAIN_MS", wholeNumber(0, 3_600_000), {
    default: 0,
    help: "How long new requests are accepted after SIGTERM",
  }),
  shutdownMs: setting("ROWGATE_SHUTDOWN_MS", wholeNumber(0, 3_600_000), {
    default: 30_000,
    help: "How long running requests may take after that",
  }),
};
