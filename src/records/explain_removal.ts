import { ApiError } from "../basics/errors/api_error.ts";
import type { DatabaseError } from "../database/postgres/database_error.ts";
import type { FailureKind } from "../database/postgres/failure_kind.ts";
import type { FailedStatement } from "./explain_conflict.ts";

/** SQLSTATEs of a foreign key that keeps a row: checked at once or at the end, and `restrict`. */
const REFERRED: ReadonlySet<string> = new Set(["23503", "23001"]);

/** Kinds of failure in rows that Postgres changes or deletes together with those of the request. */
const OF_OTHER_ROWS: ReadonlySet<FailureKind> = new Set(["conflict", "not_null", "check"]);

/**
 * Returns the 409 for a row that a delete cannot remove, because others refer to it or could not be changed
 * with it; undefined for any other error, and for an update.
 * @see DE9, DE10
 */
export function explainRemoval(
  cause: DatabaseError,
  { plan: { removal } }: FailedStatement,
): ApiError | undefined {
  if (removal === undefined || !OF_OTHER_ROWS.has(cause.kind)) return undefined;
  if (removal.mark === undefined && REFERRED.has(cause.code)) return rejectReferred(cause);
  return new ApiError(409, "The database refused the change", { cause });
}

/** Makes the 409 for a row that others refer to; it says nothing of them. @see DE9, DE11 */
export function rejectReferred(cause?: unknown): ApiError {
  const message = "Other rows refer to a row that matches the filters; nothing was deleted";
  return new ApiError(409, message, { cause });
}
