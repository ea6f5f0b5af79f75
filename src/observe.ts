/** The closed union of what can happen; sinks turn it into log lines (and, later, metrics). */
export type Observation =
  | {
    readonly kind: "request";
    readonly requestId: string;
    readonly method: string;
    readonly path: string;
    readonly status: number;
    readonly durationMs: number;
    readonly operation?: string;
    readonly table?: string;
    readonly tokenId?: string;
    readonly tenant?: string;
    readonly rows?: number;
    /** Whose rate limit refused it. */
    readonly limited?: "token" | "peer";
    /** Address of a peer that sent too many invalid tokens; of no other. */
    readonly peer?: string;
  }
  | {
    readonly kind: "failure";
    readonly requestId: string;
    readonly code: string;
    readonly where: string;
  }
  | { readonly kind: "catalogue"; readonly tables: number; readonly reason: string }
  | { readonly kind: "catalogue_failed"; readonly code: string }
  | { readonly kind: "warning"; readonly message: string }
  | { readonly kind: "listening"; readonly address: string }
  | { readonly kind: "stopping"; readonly signal: string };

/** Takes what happened; never throws, never blocks. */
export type Observe = (observation: Observation) => void;
