/** The closed union of what can happen; its sinks are log lines (`log.ts`) and metrics (`metrics.ts`). */
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
    /** Whose rate limit refused it. */
    readonly limited?: "token" | "peer" | undefined;
    /** Address of a peer that sent too many invalid tokens; of no other. */
    readonly peer?: string | undefined;
  }
  | ({
    readonly kind: "failure";
    readonly requestId: string;
    readonly code: string;
    readonly where: string;
  } & Repeated)
  | { readonly kind: "catalogue"; readonly tables: number; readonly reason: string }
  | ({ readonly kind: "catalogue_failed"; readonly code: string } & Repeated)
  | ({ readonly kind: "warning"; readonly message: string } & Repeated)
  /** The files of the console were built from source, on the first request for one of them. */
  | { readonly kind: "console_built"; readonly durationMs: number }
  /** Rows of the audit that were older than its retention are gone. */
  | { readonly kind: "audit_pruned"; readonly rows: number }
  | { readonly kind: "listening"; readonly address: string }
  | { readonly kind: "stopping"; readonly signal: string }
  | Measured;

/** How often the same has happened since it was told last; added by `debounce.ts`. */
interface Repeated {
  readonly repeated?: number;
}

/** What is counted and leaves no log line. */
export type Measured =
  /** Requests that have arrived and are not answered. */
  | { readonly kind: "in_flight"; readonly requests: number }
  /** Of one pool: connections there may be, in use, and who waits for one. */
  | {
    readonly kind: "pool";
    readonly pool: string;
    readonly size: number;
    readonly inUse: number;
    readonly waiting: number;
  }
  /** Someone was let in, or turned away, after so long. */
  | { readonly kind: "pool_wait"; readonly pool: string; readonly waitedMs: number }
  /** Sessions whose statement Postgres still works on, though nobody waits for it. */
  | { readonly kind: "abandoned"; readonly sessions: number }
  /** Statement texts that are prepared. */
  | { readonly kind: "prepared"; readonly statements: number }
  /** So many requests by key went out together. */
  | { readonly kind: "gathered"; readonly operation: string; readonly requests: number }
  /** An attempt of a statement failed, with a kind of `database/failure_kind.ts`. */
  | { readonly kind: "fault"; readonly fault: string }
  /** A statement is attempted once more after such a fault. */
  | { readonly kind: "retry"; readonly fault: string }
  /** What is in force was true in the database so long ago. */
  | { readonly kind: "catalogue_read"; readonly reason: string; readonly ageMs: number }
  | {
    readonly kind: "token_lookup";
    /** Known; asked for; asked for already by another request; no text of a token. */
    readonly result: "hit" | "miss" | "shared" | "malformed";
  };

/** Takes what happened; never throws, never blocks. */
export type Observe = (observation: Observation) => void;
