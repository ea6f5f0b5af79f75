/**
 * Everything that can happen in the service, as one closed union. It has two sinks: log lines
 * (`log.ts`) and metrics (`metrics.ts`). The first members leave a log line, and some are counted as
 * well; a `Measurement` is only counted.
 */
export type Observation =
  | {
    readonly kind: "request";
    readonly requestId: string;
    /** Trace id of the client's `traceparent`. */
    readonly traceId?: string | undefined;
    readonly method: string;
    readonly path: string;
    readonly status: number;
    readonly durationMs: number;
    readonly operation?: string | undefined;
    readonly table?: string | undefined;
    readonly tokenId?: string | undefined;
    readonly tenant?: string | undefined;
    readonly rows?: number | undefined;
    /** Whose rate limit rejected the request. */
    readonly limited?: "token" | "peer" | undefined;
    /** Address of a peer that sent too many invalid tokens; of no other peer. */
    readonly peer?: string | undefined;
  }
  /** The cause of a response of 500 or above, or of an error in the background. */
  | ({
    readonly kind: "failure";
    readonly requestId: string;
    /** SQLSTATE, error code of the system, or `internal`. */
    readonly code: string;
    /** Operation, or the part of the service. */
    readonly where: string;
  } & Repeated)
  /** The catalogue was replaced by another one. */
  | { readonly kind: "catalogue"; readonly tables: number; readonly reason: string }
  | ({ readonly kind: "catalogue_failed"; readonly code: string } & Repeated)
  | ({ readonly kind: "warning"; readonly message: string } & Repeated)
  /** The files of the console were built from source, on the first request for one of them. */
  | { readonly kind: "console_built"; readonly durationMs: number }
  /** Audit records older than the retention were deleted. */
  | { readonly kind: "audit_pruned"; readonly rows: number }
  /** Entries of the changes feeds that were older than the retention were deleted. */
  | { readonly kind: "changes_pruned"; readonly rows: number }
  /** Stored answers older than the retention were deleted. */
  | { readonly kind: "answers_pruned"; readonly rows: number }
  /** An attempt to send a message of a webhook has ended. */
  | {
    readonly kind: "webhook_sent";
    readonly webhookId: string;
    readonly tenant: string;
    readonly table: string;
    /** Host and port alone: the rest of the address may be a secret. */
    readonly host: string;
    readonly messageId: string;
    /** Number of the attempt, from 1. */
    readonly attempt: number;
    readonly result: "acknowledged" | "failed" | "gone" | "stopped";
    readonly error: string | undefined;
    readonly durationMs: number;
  }
  /** A webhook gets no more messages until its operator enables it. */
  | {
    readonly kind: "webhook_disabled";
    readonly webhookId: string;
    readonly tenant: string;
    readonly reason: string;
  }
  /** An export has ended, complete or cut off. */
  | {
    readonly kind: "export";
    readonly requestId: string;
    readonly tokenId: string | undefined;
    readonly tenant: string | undefined;
    readonly table: string;
    /** Rows that were read, and bytes that were sent, before compression. */
    readonly rows: number;
    readonly bytes: number;
    readonly durationMs: number;
    readonly result: ExportEnd;
    /** SQLSTATE or error code, where it failed. */
    readonly code: string | undefined;
  }
  | { readonly kind: "listening"; readonly address: string }
  | { readonly kind: "stopping"; readonly signal: string }
  | Measurement;

/**
 * How an export ended: `complete`, or cut off because the client disconnected (`gone`) or read
 * nothing for too long (`stalled`), the time was over (`timeout`), the token was no longer valid
 * (`revoked`), or something failed (`failed`).
 */
export type ExportEnd = "complete" | "gone" | "stalled" | "timeout" | "revoked" | "failed";

interface Repeated {
  /** How often the same happened since it was reported last; added by `debounce.ts`. */
  readonly repeated?: number;
}

/** An observation that is only counted, without a log line. */
export type Measurement =
  /** Requests that have arrived and are not answered yet. */
  | { readonly kind: "in_flight"; readonly requests: number }
  /** The state of a pool: its connections, those in use, and the statements that wait for one. */
  | {
    readonly kind: "pool";
    readonly pool: string;
    readonly size: number;
    readonly inUse: number;
    readonly waiting: number;
  }
  /** A statement's wait for a connection has ended: it got one, or gave up. */
  | { readonly kind: "pool_wait"; readonly pool: string; readonly waitedMs: number }
  /** A statement requested leases of shared rate limits. */
  | { readonly kind: "rate_leases"; readonly result: "leased" | "failed" }
  /** Processes that share the rate limit. */
  /** Exports that run. */
  | { readonly kind: "exports"; readonly running: number }
  /** Sessions in which Postgres still runs a statement that no request waits for. */
  | { readonly kind: "abandoned"; readonly sessions: number }
  /** Statement texts that are prepared. */
  | { readonly kind: "prepared"; readonly statements: number }
  /** Requests that were sent to Postgres as one batch. */
  | { readonly kind: "batch"; readonly operation: string; readonly requests: number }
  /** Numbers of webhooks; failing ones are enabled too. */
  | {
    readonly kind: "webhooks";
    readonly enabled: number;
    readonly failing: number;
    readonly disabled: number;
  }
  /** A stored answer for an `Idempotency-Key` was replayed. */
  | { readonly kind: "replayed" }
  /** An attempt to run a statement failed. */
  | { readonly kind: "fault"; readonly fault: string }
  /** A statement is repeated after such a fault. */
  | { readonly kind: "retry"; readonly fault: string }
  /** A query runs on a server of this kind; only where there are standbys. */
  | { readonly kind: "read_from"; readonly server: "primary" | "standby" }
  /** How far a standby is behind; infinite when it does not answer. */
  | {
    readonly kind: "standby";
    readonly standby: string;
    readonly lagMs: number;
    readonly usable: boolean;
  }
  /** The log of the changes feeds was measured. */
  | {
    readonly kind: "changes_log";
    readonly entries: number;
    readonly oldestSeconds: number;
    /** How long the oldest running transaction has been seen. */
    readonly transactionSeconds: number;
  }
  /** Clients that wait for changes: requests and streams. */
  | { readonly kind: "changes_waiting"; readonly clients: number }
  /** An agent called a tool, and got a result or the message of an error. */
  | { readonly kind: "tool_call"; readonly tool: string; readonly result: "answer" | "error" }
  /** The catalogue was read, and found as it was `ageMs` ago. */
  | { readonly kind: "catalogue_read"; readonly reason: string; readonly ageMs: number }
  | {
    readonly kind: "token_lookup";
    /**
     * `hit`: it was cached; `miss`: the database was asked; `shared`: another request was asking
     * already; `malformed`: the text cannot be a token.
     */
    readonly result: "hit" | "miss" | "shared" | "malformed";
  };

/** Takes what happened; never throws, never blocks. */
export type Observe = (observation: Observation) => void;
