import { ApiError } from "../errors/api_error.ts";
import type { DatabaseError } from "../postgres/database_error.ts";
import { DEADLINE, POOL_WAIT, TRANSACTION_TIMEOUT } from "../postgres/database_error.ts";
import type { FailureKind } from "../postgres/failure_kind.ts";

type Describe = (error: DatabaseError) => readonly [status: number, message: string];

const OUTCOME_UNKNOWN = "the outcome is unknown, repeating the request is safe";
/**
 * Codes of a connection that was never made. After any other code, the remote server may have
 * committed its part.
 */
const NEVER_CONNECTED: ReadonlySet<string> = new Set(["08001", "08004"]);
/** A foreign table without updates, or a published table whose rows nothing identifies. */
const UPDATE_REFUSED = "55000";
/** Message for a table, or rows, that no update can change. */
export const NOT_UPDATABLE = "The database does not allow updates of this table";

/** Message for a check constraint whose name the client may not know. */
export const BROKEN_CHECK = "The new values break a check constraint";

/**
 * Status and message of each kind of database error. `value`, `not_null`, `check` and `stale` are
 * the fallback: `records/explain_error.ts` usually finds the field and says more.
 * @see docs/specification/errors.md#errors-of-the-database
 */
const RESPONSE_BY_KIND: Readonly<Record<FailureKind, Describe>> = {
  value: () => [400, "A value does not fit the type of its column"],
  not_null: () => [400, "A column that must have a value was given null"],
  check: () => [400, BROKEN_CHECK],
  conflict: (error) => [409, describeConflict(error)],
  // On a read, the message may describe a row that the tenant's predicate would have left out.
  raised: ({ write, raised }) =>
    write
      ? [400, raised ?? "The database refused the change"]
      : [400, "The database refused the query"],
  outside: () => [409, "A row would be out of reach after the change; nothing was changed"],
  permission: () => [403, "The service's database role does not permit this"],
  serialization: (error) => [503, unchanged("The rows are being changed by other requests", error)],
  locked: (error) => [503, unchanged("The rows are locked by another transaction", error)],
  timeout: describeTimeout,
  remote: (error) =>
    error.write && !NEVER_CONNECTED.has(error.code)
      ? [503, `The database is not available; ${OUTCOME_UNKNOWN}`]
      : [503, unchanged("The database is not available", error)],
  unavailable: describeUnavailable,
  lost: ({ write }) => [
    503,
    `The connection to the database was lost${write ? `; ${OUTCOME_UNKNOWN}` : ""}`,
  ],
  too_complex: () => [400, "The request is too complex for the database"],
  stale: () => [500, "Internal error"],
  unknown: () => [500, "Internal error"],
};

function describeTimeout(error: DatabaseError): ReturnType<Describe> {
  if (error.write && error.code === DEADLINE) {
    return [504, `The database did not answer in time; ${OUTCOME_UNKNOWN}`];
  }
  if (error.code === TRANSACTION_TIMEOUT) {
    return [504, unchanged("The transaction took too long", error)];
  }
  return [504, unchanged("The database took too long", error)];
}

function describeUnavailable(error: DatabaseError): ReturnType<Describe> {
  if (error.write && error.code === UPDATE_REFUSED) return [403, NOT_UPDATABLE];
  if (error.code === POOL_WAIT) {
    return [
      503,
      unchanged("The service is busy, no connection to the database became free", error),
    ];
  }
  return [503, unchanged("The database is not available", error)];
}

const BROKEN: ReadonlyMap<string, string> = new Map([
  ["23505", "a unique key"],
  ["23P01", "an exclusion constraint"],
  ["23503", "a foreign key"],
  ["23001", "a foreign key"],
]);

/** Describes the kind of key that an update breaks, without revealing anything about a row. @see E31 */
export function describeConflict({ code }: DatabaseError): string {
  const broken = BROKEN.get(code);
  return "The new values conflict with existing data" +
    (broken === undefined ? "" : `: they break ${broken}`);
}

function unchanged(message: string, { write }: DatabaseError): string {
  return write ? `${message}; nothing was changed` : message;
}

/**
 * Returns the error that a client sees for an error of the database: status, message and, for a 503,
 * `Retry-After`.
 */
export function toApiError(error: DatabaseError): ApiError {
  const [status, message] = RESPONSE_BY_KIND[error.kind](error);
  const headers: Record<string, string> = status === 503 ? { "Retry-After": "1" } : {};
  return new ApiError(status, message, { cause: error, headers });
}
