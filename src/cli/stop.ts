import { toApiError } from "../http/database_status.ts";
import { ApiError } from "../errors/api_error.ts";
import { DatabaseError, findDatabaseError } from "../postgres/database_error.ts";
import { describeFatal } from "../postgres/fatal.ts";

/** An end of the command that a person is told, line by line. */
export interface Stop extends Error {
  readonly code: number;
  readonly lines: readonly string[];
}

const OWNER_HINT = "Run it as the owner of the database (DATABASE_URL), or grant the role what " +
  '"rowgate setup --print" shows';

/** Says what to look at when the database can not be reached. */
function adviseAway(code: string): string {
  if (code === "ENOTFOUND") return "no machine has the name that stands as host in DATABASE_URL";
  if (/^[0-9A-Z]{5}$/.test(code)) return "it takes nobody in, try again in a moment";
  return "look whether it runs, and whether host and port in DATABASE_URL are right";
}

/** Exit code of what was refused or failed. */
export const FAILED = 1;
/** Exit code of a wrong command line or configuration. */
export const WRONG_USAGE = 2;

/** Makes the error that ends the command with an exit code and lines for a person. */
export function stop(code: number, ...lines: readonly string[]): Stop {
  return Object.assign(new Error(lines[0]), { code, lines });
}

/** Tells an end that was meant from an error that was not. */
export function isStop(error: unknown): error is Stop {
  return error instanceof Error && "lines" in error && "code" in error;
}

/** Says in a person's words what the database did; never its own text. */
export function explainFailure(thrown: unknown): Stop {
  if (isStop(thrown)) return thrown;
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
    ? stop(FAILED, `${line}; ${adviseAway(failure.code)}`)
    : stop(FAILED, line);
}
