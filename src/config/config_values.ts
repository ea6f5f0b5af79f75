import type { RateLimit, RateLimitScope } from "./shapes.ts";
import type { HostRule } from "./webhook_hosts.ts";

/**
 * Everything an operator can set, checked, with defaults filled in.
 * @see docs/specification/running.md
 */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** Undefined: the embedded Postgres in `dataDir` serves. */
  readonly databaseUrl: string | undefined;
  /** Standbys that queries are sent to; undefined: none. */
  readonly readUrl: string | undefined;
  /** How long a query waits until a standby has the write that it names. */
  readonly replicaWaitMs: number;
  /** For how long after a write a token's queries go to the primary. */
  readonly replicaStickyMs: number;
  /** A standby that is further behind gets no queries. */
  readonly replicaMaxLagMs: number;
  readonly dataDir: string;
  /** The first gives its tables no prefix. */
  readonly schemas: readonly string[];
  readonly tenantColumn: string;
  readonly policyFile: string | undefined;
  /** Of columns without zone and of triggers; undefined: that of the database. */
  readonly timeZone: string | undefined;
  readonly poolSize: number;
  /** Connections that are kept while there are no requests; undefined: all of `poolSize`. */
  readonly poolIdleSize: number | undefined;
  /** After how long the others are closed. */
  readonly poolIdleMs: number;
  readonly poolWaitMs: number;
  readonly transactions: number;
  /** From BEGIN to COMMIT; four fifths of `poolWaitMs` when it is not set. */
  readonly transactionTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxBodiesBytes: number;
  readonly maxUnsentBytes: number;
  /** A client that takes nothing of a long response for this long is disconnected. */
  readonly sendTimeoutMs: number;
  /** Exports that run at the same time. */
  readonly exports: number;
  /** Those of one tenant; undefined: as many. */
  readonly exportsPerTenant: number | undefined;
  readonly exportTimeoutMs: number;
  readonly maxInFlight: number;
  readonly maxPageBytes: number;
  /** Of all patterns of one query together. */
  readonly maxPatternCharacters: number;
  /** Of one value of type `tsquery`. */
  readonly maxTsqueryCharacters: number;
  /** Of tokens that were never valid in this process, at the same time. */
  readonly tokenLookUps: number;
  /** Of each token; undefined: no limit. */
  readonly rateLimit: RateLimit | undefined;
  /** What the limit holds for: each process, or all instances on the same database. */
  readonly rateLimitScope: RateLimitScope;
  /** False behind a pooler in transaction mode; `auto` finds out. */
  readonly prepare: boolean | "auto";
  readonly tenantSetting: string | undefined;
  readonly audit: boolean;
  readonly auditDays: number | undefined;
  readonly changesDays: number;
  /** For how long the answer to an `Idempotency-Key` is kept. */
  readonly idempotencyHours: number;
  /** Hosts that webhooks may call; none: webhooks are off. */
  readonly webhookHosts: readonly HostRule[];
  readonly corsOrigins: readonly string[];
  readonly console: boolean;
  readonly mcp: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  readonly workers: number | "auto";
  /** How long it goes on listening after a signal, for load balancers to notice. */
  readonly drainMs: number;
  readonly shutdownMs: number;
}
