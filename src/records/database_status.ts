import { ApiError } from "../basics/errors/api_error.ts";
import { type DatabaseError, isOfEncoding } from "../database/postgres/database_error.ts";
import {
  DEADLINE,
  type FailureKind,
  POOL_WAIT,
  READ_ONLY,
  TRANSACTION_TIMEOUT,
} from "../database/postgres/failure_kind.ts";

/** Status and message; `once` where repeating the request cannot help, so without `Retry-After`. */
type Described = readonly [status: number, message: string, repeat?: "once"];
type Describe = (error: DatabaseError) => Described;

/**
 * Codes of a connection that was never made. After any other code, the remote server may have
 * committed its part.
 */
const NEVER_CONNECTED: ReadonlySet<string> = new Set(["08001", "08004", "HV00N"]);
/** Message for a query whose view, policy or function failed. */
export const REFUSED_QUERY = "The database refused the query";
/** Message for a row that, as it was written, would not be the tenant's, or not match the filter. */
export const OUT_OF_REACH = "A row would be out of reach after the change; nothing was changed";
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
  value: (error) => [
    400,
    isOfEncoding(error) && !error.write
      ? "A stored text is not valid in UTF-8"
      : "A value does not fit the type of its column",
  ],
  not_null: ofWrite(() => [400, "A column that must have a value was given null"]),
  check: ofWrite(() => [400, BROKEN_CHECK]),
  conflict: ofWrite((error) => [409, describeConflict(error)]),
  raised: ofWrite(({ raised }) => [400, raised ?? "The database refused the change"]),
  outside: ofWrite(() => [409, OUT_OF_REACH]),
  permission: () => [403, "The service's database role does not permit this"],
  serialization: (error) => [503, unchanged("The rows are being changed by other requests", error)],
  locked: (error) => [503, unchanged("The rows are locked by another transaction", error)],
  timeout: describeTimeout,
  too_complex: ({ code }) => [
    400,
    code === TEMPORARY_FILES
      ? "The request needs more temporary files than the database allows"
      : "The request is too complex for the database",
  ],
  exhausted: (error) => [503, unchanged(describeExhausted(error), error)],
  unfilled: ({ write }) =>
    write
      ? [403, NOT_UPDATABLE]
      : [503, "The table cannot be read yet: its materialized view must be filled first", "once"],
  failed: (error) => [503, unchanged("The database failed to do this", error), "once"],
  foreign: (
    error,
  ) => [503, uncertain("A server behind the database failed to do this", error), "once"],
  remote: (error) => {
    const describe = NEVER_CONNECTED.has(error.code) ? unchanged : uncertain;
    return [503, describe("A server behind the database is not available", error)];
  },
  session: (error) => [503, unchanged("The database ended the session", error)],
  unavailable: describeUnavailable,
  lost: (error) => [503, uncertain("The connection to the database was lost", error)],
  stale: () => [503, "The tables of the database were changed meanwhile"],
  unknown: () => [500, "Internal error"],
};

/**
 * Describes an error that only a write can cause. On a read a view or a policy raised it, and it may be
 * about a row that the tenant's predicate would have left out.
 */
function ofWrite(describe: Describe): Describe {
  return (error) => error.write ? describe(error) : [400, REFUSED_QUERY];
}

/** SQLSTATE of a statement that needs more temporary files than `temp_file_limit`. */
const TEMPORARY_FILES = "53400";

const RESOURCES: ReadonlyMap<string, string> = new Map([
  ["53100", "disk space"],
  ["53200", "memory"],
  ["53300", "connections"],
]);

function describeExhausted({ code }: DatabaseError): string {
  return `The database is out of ${RESOURCES.get(code) ?? "a resource"}`;
}

function describeTimeout(error: DatabaseError): Described {
  if (error.write && error.code === DEADLINE) {
    return [504, uncertain("The database did not answer in time", error)];
  }
  if (error.code === TRANSACTION_TIMEOUT) {
    return [504, unchanged("The transaction took too long", error)];
  }
  return [504, unchanged("The database took too long", error)];
}

function describeUnavailable(error: DatabaseError): Described {
  const what = error.code === POOL_WAIT
    ? "The service is busy, no connection to the database became free"
    : error.code === READ_ONLY
    ? "The database only allows reading at present"
    : "The database is not available";
  return [503, unchanged(what, error)];
}

const BROKEN: ReadonlyMap<string, string> = new Map([
  ["23505", "a unique key"],
  ["23P01", "an exclusion constraint"],
  ["23503", "a foreign key"],
  ["23001", "a foreign key"],
]);

/** Describes the kind of key that an update breaks, without revealing anything about a row. @see E31 */
export function describeConflict({ code }: Pick<DatabaseError, "code">): string {
  const broken = BROKEN.get(code);
  return "The new values conflict with existing data" +
    (broken === undefined ? "" : `: they break ${broken}`);
}

function uncertain(message: string, { write }: DatabaseError): string {
  return write ? `${message}; the outcome is unknown, repeating the request is safe` : message;
}

function unchanged(message: string, { write }: DatabaseError): string {
  return write ? `${message}; nothing was changed` : message;
}

/**
 * Returns the error that a client sees for an error of the database: status, message and, for a 503
 * after which repeating may help, `Retry-After`.
 */
export function toApiError(error: DatabaseError): ApiError {
  const [status, message, repeat] = RESPONSE_BY_KIND[error.kind](error);
  const mayHelp = status === 503 && repeat !== "once";
  const headers: Record<string, string> = mayHelp ? { "Retry-After": "1" } : {};
  return new ApiError(status, message, { cause: error, headers });
}
