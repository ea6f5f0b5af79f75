import { ApiError } from "../errors/api_error.ts";
import { type FailureKind, kindOf } from "./failure_kind.ts";

/** A failure of the database, for the log and for the choice of an answer; never shown as it is. */
export interface Failure {
  readonly kind: FailureKind;
  /** SQLSTATE or the driver's code. */
  readonly code: string;
  /** Name of the constraint, for `check`. */
  readonly constraint: string | undefined;
  /** Schema and name of the table whose constraint it was. */
  readonly relation: string | undefined;
  /** Name of the column, for `not_null`. */
  readonly column: string | undefined;
  /** The text, for `raised` alone. */
  readonly message: string | undefined;
}

/** Code of a failure that our own deadline made: the backend did not even answer its timeout. */
export const DEADLINE = "DEADLINE";
/** The same before the commit of a transaction: nothing was kept. */
export const LANE_DEADLINE = "LANE_DEADLINE";

const MAX_RAISED_CHARACTERS = 500;

/**
 * Tells what an error of the driver means; `sent` is false when the statement never left, in which
 * case whatever happened, nothing was changed and the database is simply not there.
 * @see P30
 */
export function classify(error: unknown, sent = true): Failure {
  const fields = (typeof error === "object" && error !== null ? error : {}) as {
    readonly name?: unknown;
    readonly code?: unknown;
    readonly constraint_name?: unknown;
    readonly column_name?: unknown;
    readonly schema_name?: unknown;
    readonly table_name?: unknown;
    readonly message?: unknown;
    readonly routine?: unknown;
    readonly severity?: unknown;
  };
  const code = typeof fields.code === "string" ? fields.code : nameUncoded(fields.name);
  const known = kindOf(code, fields.name === "PostgresError");
  const kind = sent ? ofSession(known ?? "unknown", fields.severity) : "unavailable";
  return {
    kind,
    code,
    constraint: kind === "check" ? text(fields.constraint_name) : undefined,
    relation: text(fields.table_name) && `${fields.schema_name}.${fields.table_name}`,
    column: kind === "not_null" ? text(fields.column_name) : undefined,
    message: kind === "raised" && isSaid(code, fields.routine)
      ? text(fields.message)?.slice(0, MAX_RAISED_CHARACTERS)
      : undefined,
  };
}

/** An ERROR leaves the session as it is: what was lost is a connection of Postgres's own, to a shard. */
function ofSession(kind: FailureKind, severity: unknown): FailureKind {
  return kind === "lost" && severity === "ERROR" ? "remote" : kind;
}

/** Deno's refusal of a connection that it was given no permission for has a name alone. */
function nameUncoded(name: unknown): string {
  return name === "NotCapable" ? "NOT_CAPABLE" : "UNKNOWN";
}

/** PL/pgSQL's own: a failed assertion, a `select into strict` that found no row or several. */
const UNSAID_CODES: ReadonlySet<string> = new Set(["P0002", "P0003", "P0004"]);

/** Tells whether an author meant the message for somebody to read. */
function isSaid(code: string, routine: unknown): boolean {
  return code.startsWith("P0") && (!UNSAID_CODES.has(code) || routine === "exec_stmt_raise");
}

/** Tells whether a session must not be used again after a failure on it. */
export function isBroken({ kind, code }: Failure): boolean {
  return kind === "lost" || code === DEADLINE || !SQLSTATE.test(code);
}

/** What Postgres itself says, ready for the next statement. */
const SQLSTATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** Failures of our own making that are told apart from the kind they are answered as. */
const FAULT_BY_CODE: ReadonlyMap<string, string> = new Map([
  ["ABORTED", "aborted"],
  ["POOL_WAIT", "pool_wait"],
  [DEADLINE, "deadline"],
]);

/** Names a failure for the metrics: one of few words, never a code that a trigger chose. */
export function nameFault({ kind, code }: Failure): string {
  return FAULT_BY_CODE.get(code) ?? kind;
}

/** Makes a failure of our own, with nothing to tell but its kind and code. */
export function fail(kind: FailureKind, code: string): Failure {
  return {
    kind,
    code,
    constraint: undefined,
    relation: undefined,
    column: undefined,
    message: undefined,
  };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

const RETRY_SOON = { "Retry-After": "1" };
/** No connection was made. Any other may have been lost while the other server committed its part. */
const UNCONNECTED: ReadonlySet<string> = new Set(["08001", "08004"]);
const OUTCOME_UNKNOWN = "the outcome is unknown, repeating the request is safe";

/**
 * Chooses the answer for a failure; status and text are ours alone. Kinds that an operation can say
 * more about (`value`, `not_null`, `check`, `stale`) get a general text; the failure is its `cause`.
 * @see docs/specification/errors.md#what-the-database-refuses
 */
export function toApiError(failure: Failure, { write }: { readonly write: boolean }): ApiError {
  const unchanged = write ? "; nothing was changed" : "";
  const refuse = (status: number, message: string, headers: Record<string, string> = {}) =>
    new ApiError(status, message, { cause: failure, headers, stale: failure.kind === "stale" });
  switch (failure.kind) {
    case "value":
      return refuse(400, "A value does not fit the type of its column");
    case "not_null":
      return refuse(400, "A column that must have a value was given null");
    case "check":
      return refuse(
        400,
        failure.constraint === undefined
          ? "The new values break a check constraint"
          : `The new values break the check constraint "${failure.constraint}"`,
      );
    case "conflict":
      return refuse(409, "The new values conflict with existing data");
    case "raised":
      // Where rows are read, it may be of a row that the tenant's predicate would have left out.
      return write
        ? refuse(400, failure.message ?? "The database refused the change")
        : refuse(400, "The database refused the query");
    case "permission":
      return refuse(403, "The service's database role does not permit this");
    case "serialization":
      return refuse(503, `The rows are being changed by other requests${unchanged}`, RETRY_SOON);
    case "locked":
      return refuse(503, `The rows are locked by another transaction${unchanged}`, RETRY_SOON);
    case "timeout":
      return write && failure.code === DEADLINE
        ? refuse(504, `The database did not answer in time; ${OUTCOME_UNKNOWN}`)
        : refuse(504, `The database took too long${unchanged}`);
    case "remote":
      return write && !UNCONNECTED.has(failure.code)
        ? refuse(503, `The database is not available; ${OUTCOME_UNKNOWN}`, RETRY_SOON)
        : refuse(503, `The database is not available${unchanged}`, RETRY_SOON);
    case "unavailable":
      return refuse(503, `The database is not available${unchanged}`, RETRY_SOON);
    case "lost":
      return write
        ? refuse(503, `The connection to the database was lost; ${OUTCOME_UNKNOWN}`, RETRY_SOON)
        : refuse(503, "The connection to the database was lost", RETRY_SOON);
    case "too_complex":
      return refuse(400, "The request is too complex for the database");
    case "stale":
    case "unknown":
      return refuse(500, "Internal error");
  }
}
