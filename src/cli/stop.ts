import { CatalogueConflictError } from "../catalogue/catalogue_conflict_error.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import { toApiError } from "../records/database_status.ts";
import {
  DatabaseError,
  describeFatal,
  findDatabaseError,
} from "../database/postgres/database_error.ts";
import { READ_ONLY } from "../database/postgres/failure_kind.ts";

/** An error that ends the command with an exit code and lines for the operator. */
export interface Stop extends Error {
  readonly code: number;
  readonly lines: readonly string[];
}

/** Exit code of a command that failed. */
export const FAILED = 1;
/** Exit code of a wrong command line or configuration. */
export const WRONG_USAGE = 2;

const OWNER_HINT = "Run it as the owner of the database (DATABASE_URL), or grant the role the " +
  'rights that "rowgate setup --print" shows';

/** Makes the error that ends the command with an exit code and lines for the operator. */
export function stop(code: number, ...lines: readonly string[]): Stop {
  return Object.assign(new Error(lines[0]), { code, lines });
}

/** Distinguishes a deliberate end from an unexpected error. */
export function isStop(error: unknown): error is Stop {
  return error instanceof Error && "lines" in error && "code" in error;
}

/** Explains a failure for the operator, without texts of Postgres. */
export function explainFailure(thrown: unknown): Stop {
  if (isStop(thrown)) return thrown;
  if (thrown instanceof CatalogueConflictError) {
    return stop(FAILED, ...thrown.conflicts.map((conflict) => `rowgate: ${conflict}`));
  }
  const error = thrown instanceof DatabaseError ? toApiError(thrown) : thrown;
  if (!(error instanceof ApiError)) {
    return stop(FAILED, `rowgate: ${error instanceof Error ? error.message : String(error)}`);
  }
  const failure = findDatabaseError(error);
  const fatal = failure === undefined ? undefined : describeFatal(failure);
  const what = fatal ?? `${error.message.charAt(0).toLowerCase()}${error.message.slice(1)}`;
  const line = `rowgate: ${what}${failure === undefined ? "" : ` (${failure.code})`}`;
  if (failure?.kind === "permission") return stop(FAILED, line, OWNER_HINT);
  return failure?.kind === "unavailable" && fatal === undefined
    ? stop(FAILED, `${line}; ${adviseUnavailable(failure)}`)
    : stop(FAILED, line);
}

function adviseUnavailable({ code, fromServer }: DatabaseError): string {
  if (code === "ENOTFOUND") return "no machine has the host name in DATABASE_URL";
  if (code === READ_ONLY) return "DATABASE_URL must name the primary";
  if (fromServer) return "it accepts no connections, try again in a moment";
  return "check that it runs, and the host and port in DATABASE_URL";
}
