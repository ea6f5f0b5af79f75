import { ApiError } from "../basics/errors/api_error.ts";
import { type Path, printAt } from "../basics/errors/issue.ts";
import { toApiError } from "./database_status.ts";
import type { CreatePlan, NewRecord } from "./plan/create_plan.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { FailureKind } from "../database/postgres/failure_kind.ts";
import { SKIPPED } from "./sql/create.ts";
import { explainError } from "./explain_error.ts";
import type { Run } from "./run.ts";

/** A record that the database refuses, and its error. */
export interface RefusedRecord {
  readonly error: unknown;
  readonly record: NewRecord;
}

/** A create that failed, and the body that it was made from. */
interface FailedCreate {
  readonly run: Run;
  readonly plan: CreatePlan;
  readonly document: unknown;
  /** Finds the record for which the database fails; undefined if none fails alone. */
  readonly findRefused: () => Promise<RefusedRecord | undefined>;
}

/** Errors that the values or the row of one record cause. */
const OF_ONE_RECORD: ReadonlySet<FailureKind> = new Set(
  ["value", "not_null", "check", "conflict", "raised", "outside", "permission"],
);

/**
 * Returns the error of a create at the path of the record that causes it. Where several were inserted by
 * one statement, they are inserted one by one and rolled back, to find it.
 * @see CR10
 */
export async function explainCreate(error: unknown, failed: FailedCreate): Promise<unknown> {
  if (!(error instanceof DatabaseError) || !OF_ONE_RECORD.has(error.kind)) return error;
  if (error.relation?.startsWith("rowgate.")) return error;
  const { plan } = failed;
  const [record] = plan.records;
  if (plan.records.length === 1) return await explainRecord(error, record!, failed);
  const refused = await failed.findRefused();
  if (refused === undefined) return error.code === SKIPPED ? rejectSkipped(null) : error;
  return await explainRecord(refused.error, refused.record, failed);
}

async function explainRecord(
  error: unknown,
  { path, assignments }: NewRecord,
  { run, plan: { table }, document }: FailedCreate,
): Promise<unknown> {
  if (error instanceof DatabaseError && error.code === SKIPPED && !error.inFunction) {
    return rejectSkipped(path);
  }
  const plan = { path, fields: path, table, assignments };
  const explained = await explainError(error, { run, plan, document });
  if (!(explained instanceof DatabaseError)) return explained;
  if (explained.kind === "permission" || !OF_ONE_RECORD.has(explained.kind)) return explained;
  const { status, message, headers } = toApiError(explained);
  return new ApiError(status, `${printAt(path)}${message}`, { headers, cause: explained });
}

/** Makes the 409 for a record that the database did not insert, without an error. @see CR9 */
export function rejectSkipped(path: Path): ApiError {
  return new ApiError(409, `${printAt(path)}The database refused the change`);
}
