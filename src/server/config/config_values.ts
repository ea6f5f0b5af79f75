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
  /** How long a query waits for a standby to have the write that it names. */
  readonly replicaWaitMs: number;
  /** How long after a write the queries of a token go to the primary. */
  readonly replicaStickyMs: number;
  /** A standby that is further behind gets no queries. */
  readonly replicaMaxLagMs: number;
  readonly dataDir: string;
  /** Tables of the first schema have no prefix. */
  readonly schemas: readonly string[];
  readonly tenantColumn: string;
  readonly policyFile: string | undefined;
  /** The time zone of columns without zone, and of triggers; undefined: that of the database. */
  readonly timeZone: string | undefined;
  readonly poolSize: number;
  /** Connections that are kept while there are no requests; undefined: all of `poolSize`. */
  readonly poolIdleSize: number | undefined;
  /** Idle time after which the others are closed. */
  readonly poolIdleMs: number;
  readonly poolWaitMs: number;
  readonly transactions: number;
  /** From BEGIN to COMMIT; four fifths of `poolWaitMs` if it is not set. */
  readonly transactionTimeoutMs: number;
  readonly statementTimeoutMs: number;
  readonly lockTimeoutMs: number;
  readonly requestTimeoutMs: number;
  readonly maxBodyBytes: number;
  readonly maxBodiesBytes: number;
  readonly maxUnsentBytes: number;
  /** A client that reads nothing of a long response for this long is disconnected. */
  readonly sendTimeoutMs: number;
  /** Exports that run at the same time. */
  readonly exports: number;
  /** Exports of one tenant; undefined: the same number. */
  readonly exportsPerTenant: number | undefined;
  readonly exportTimeoutMs: number;
  readonly maxInFlight: number;
  readonly maxPageBytes: number;
  /** Characters of all patterns of one query together. */
  readonly maxPatternCharacters: number;
  /** Characters of one value of type `tsquery`. */
  readonly maxTsqueryCharacters: number;
  /** Simultaneous look-ups of tokens that were never valid in this process. */
  readonly tokenLookUps: number;
  /** Requests of each token; undefined: no limit. */
  readonly rateLimit: RateLimit | undefined;
  /** Whether the limit applies to each process, or to all instances on the same database together. */
  readonly rateLimitScope: RateLimitScope;
  /** False behind a pooler in transaction mode; `auto` finds out. */
  readonly prepare: boolean | "auto";
  readonly tenantSetting: string | undefined;
  readonly audit: boolean;
  readonly auditDays: number | undefined;
  readonly changesDays: number;
  /** How long the answer to an `Idempotency-Key` is stored. */
  readonly idempotencyHours: number;
  /** Hosts that webhooks may call; none: webhooks are off. */
  readonly webhookHosts: readonly HostRule[];
  readonly corsOrigins: readonly string[];
  readonly console: boolean;
  readonly mcp: boolean;
  readonly logLevel: "debug" | "info" | "warn" | "error" | "silent";
  readonly workers: number | "auto";
  /** How long it keeps accepting requests after a signal, until load balancers notice. */
  readonly drainMs: number;
  readonly shutdownMs: number;
}
