/** What the service does after a kind of failure. */
export interface FailureRule {
  /**
   * When it runs the same statement again by itself. `colliding`: up to three times, each after a
   * random pause. `once`: nothing was done, so once more, also a write. `read`: once more, unless the
   * statement might have changed rows, because the outcome is unknown.
   */
  readonly repeats: "colliding" | "once" | "read" | "never";
  /** True: a statement of a pipeline that failed so is run again alone. */
  readonly alone: boolean;
  /** True: the same statement may succeed later. */
  readonly passes: boolean;
  /**
   * What becomes of the session, unless the error is FATAL, which ends it. `answered`: it lives if
   * the error came from Postgres. `all end`: it ends, and the idle ones are replaced, since they may
   * be dead as well.
   */
  readonly session: "lives" | "answered" | "ends" | "all end";
}

const NEVER: FailureRule = { repeats: "never", alone: false, passes: false, session: "lives" };
const LATER: FailureRule = { ...NEVER, passes: true };

/**
 * Every kind of failure: what it means, and what the service does after it. The response to a client
 * is in `records/database_status.ts`.
 * @see P30
 */
const RULES = {
  /** A value of the wrong form or out of range. */
  value: NEVER,
  /** Null where a value must be. */
  not_null: NEVER,
  /** A check constraint, or the check option of a view. */
  check: NEVER,
  /** A unique, exclusion or foreign key. */
  conflict: NEVER,
  /** A trigger, view, policy or generated column of your database refused. */
  raised: NEVER,
  /** A row, as written, would not be within the client's reach. */
  outside: NEVER,
  /** The catalogue is out of date. */
  stale: { ...NEVER, alone: true },
  /** The role lacks a right. */
  permission: NEVER,
  /** A collision with other transactions. @see E38 */
  serialization: { ...LATER, repeats: "colliding", alone: true },
  /** The lock timeout. */
  locked: LATER,
  /** The statement or transaction timeout. */
  timeout: LATER,
  /** Over a limit of Postgres, or of temporary files. */
  too_complex: NEVER,
  /** Disk, memory or another resource of the database is used up. */
  exhausted: LATER,
  /** A materialised view without data, or an engine without updates. */
  unfilled: NEVER,
  /** An internal error of the database: it alone is at fault. */
  failed: { ...NEVER, alone: true },
  /** A foreign server refused. */
  foreign: NEVER,
  /** A foreign server or a shard was disconnected. */
  remote: LATER,
  /** The session could not be used, so nothing was done. */
  session: { ...LATER, repeats: "once", alone: true },
  /** Not there, starting, full, read-only, or a connection that was never made. */
  unavailable: { ...LATER, session: "answered" },
  /** Disconnected after the statement was sent. @see E42, E43 */
  lost: { ...LATER, repeats: "read", session: "all end" },
  /** Not an error of the database. */
  unknown: { ...NEVER, session: "ends" },
} as const satisfies Readonly<Record<string, FailureRule>>;

/** The kinds of failure that the response distinguishes. @see P30 */
export type FailureKind = keyof typeof RULES;

/** The client disconnected; nothing was changed. */
export const ABORTED_CODE = "ABORTED";
/** Our own deadline: the backend did not even react to its timeout. */
export const DEADLINE = "DEADLINE";
/** The same before the commit of a transaction, so nothing was changed. */
export const TRANSACTION_DEADLINE = "TRANSACTION_DEADLINE";
/** A transaction took too long, and nothing was changed. */
export const TRANSACTION_TIMEOUT = "TRANSACTION_TIMEOUT";
/** A transaction lost its session before the commit, so nothing was changed. */
export const TRANSACTION_LOST = "TRANSACTION_LOST";
/** No session became free in time. */
export const POOL_WAIT = "POOL_WAIT";

/** How failures of the service itself differ from others of their kind. */
const OWN_RULES: ReadonlyMap<string, Partial<FailureRule>> = new Map([
  [ABORTED_CODE, { alone: true }],
  [DEADLINE, { session: "all end" }],
  [TRANSACTION_DEADLINE, { session: "all end" }],
  [TRANSACTION_LOST, { repeats: "once" }],
]);

/** A failure, as far as a rule depends on it. */
export interface KnownFailure {
  readonly kind: FailureKind;
  readonly code: string;
}

/** Gives the rule of a failure. */
export function findRule({ kind, code }: KnownFailure): FailureRule {
  return { ...RULES[kind], ...OWN_RULES.get(code) };
}

/** Reports whether a session ends with a failure. */
export function endsSession(failure: KnownFailure, { fromServer, fatal }: ErrorOrigin): boolean {
  const { session } = findRule(failure);
  if (fatal) return true;
  return session === "answered" ? !fromServer : session !== "lives";
}

/** SQLSTATE of a write on a server, or in a transaction, that only reads. */
export const READ_ONLY = "25006";

/** What decides the kind of an error, besides its code. */
export interface ErrorOrigin {
  /** True if Postgres itself sent it, and not the driver or the system. */
  readonly fromServer: boolean;
  /** True if it ended the session. */
  readonly fatal: boolean;
  /** True if a function raised it with a code of its own choice. */
  readonly chosen: boolean;
  /** True if it was raised within a function of the operator, such as a trigger. */
  readonly inFunction: boolean;
}

/**
 * The kind of each SQLSTATE, and of each class for its other codes, after which the session lives. A
 * class that is missing here has no meaning for statements of the service: only a function of your
 * database can have caused it, so it is `raised`. No code is `unknown`.
 */
const KINDS: ReadonlyMap<string, FailureKind> = new Map([
  ["08", "remote"],
  ["0A", "stale"],
  ["22", "value"],
  ["22012", "raised"],
  ["23", "conflict"],
  ["23502", "not_null"],
  ["23514", "check"],
  [READ_ONLY, "unavailable"],
  ["25P02", "session"],
  ["26", "session"], // a pooler dropped a prepared statement
  ["3F", "stale"],
  ["40", "serialization"],
  ["40002", "conflict"],
  ["40003", "remote"],
  ["42", "stale"],
  ["42501", "permission"],
  ["42601", "value"], // a tsquery or jsonpath: nothing else of ours can be misspelt
  ["42602", "value"],
  ["42P05", "session"],
  ["44", "check"],
  ["53", "exhausted"],
  ["53400", "too_complex"], // temp_file_limit
  ["54", "too_complex"],
  ["55000", "unfilled"],
  ["55P03", "locked"],
  ["57", "remote"],
  ["57014", "timeout"],
  ["58", "failed"],
  ["72", "serialization"],
  ["F0", "failed"],
  ["HV", "foreign"],
  ["HV00N", "remote"],
  ["XX", "failed"],
]);

/** The same for errors that end the session; after any other one, the outcome is unknown: `lost`. */
const FATAL_KINDS: ReadonlyMap<string, FailureKind> = new Map([
  ["25P03", "session"], // idle in a transaction
  ["25P04", "timeout"],
  ["28", "unavailable"],
  ["3D", "unavailable"],
  ["40001", "serialization"],
  ["53", "unavailable"],
  ["57P03", "unavailable"],
  ["57P05", "session"], // idle outside of one
]);

/**
 * The kinds that a function may choose by the code of what it raises. Any other code that it chooses is
 * its own affair: a trigger that raises "disk full" is not a full disk.
 */
const MAY_CHOOSE: ReadonlySet<FailureKind> = new Set<FailureKind>(
  ["value", "not_null", "check", "conflict", "serialization", "locked"],
);

/**
 * Codes that mean something else within a function: a write where only reading is allowed, and an
 * object that is not ready, are then its fault and not the database's.
 */
const OF_FUNCTIONS: ReadonlySet<string> = new Set([READ_ONLY, "25P02", "26000", "42P05", "55000"]);

const KIND_OF_SYSTEM_CODE: ReadonlyMap<string, FailureKind> = new Map([
  ["CONNECT_TIMEOUT", "unavailable"],
  ["CONNECTION_ENDED", "unavailable"],
  ["ECONNREFUSED", "unavailable"],
  ["EHOSTUNREACH", "unavailable"],
  ["ENETUNREACH", "unavailable"],
  ["ENOENT", "unavailable"], // the directory of a unix socket
  ["ENOTFOUND", "unavailable"],
  ["EAI_AGAIN", "unavailable"],
  ["CONNECTION_CLOSED", "lost"],
  ["CONNECTION_DESTROYED", "lost"],
  ["ECONNABORTED", "lost"],
  ["ECONNRESET", "lost"],
  ["EPIPE", "lost"], // on Deno; on Node the driver reports CONNECTION_CLOSED
  ["ERR_STREAM_DESTROYED", "lost"],
  ["ETIMEDOUT", "lost"],
]);

/**
 * Gives the kind of an error by its code, an SQLSTATE or one of the driver or the system. Whatever
 * Postgres sends has a kind other than `unknown`.
 * @see P30
 */
export function findKind(
  code: string,
  { fromServer, fatal, chosen, inFunction }: ErrorOrigin,
): FailureKind {
  if (!fromServer) return KIND_OF_SYSTEM_CODE.get(code) ?? "unknown";
  if (fatal) return lookUp(FATAL_KINDS, code) ?? "lost";
  if (inFunction && OF_FUNCTIONS.has(code)) return "raised";
  const kind = lookUp(KINDS, code) ?? "raised";
  return chosen && !MAY_CHOOSE.has(kind) ? "raised" : kind;
}

function lookUp(
  kinds: ReadonlyMap<string, FailureKind>,
  code: string,
): FailureKind | undefined {
  return kinds.get(code) ?? kinds.get(code.slice(0, 2));
}
