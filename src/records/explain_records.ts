import { ApiError } from "../basics/errors/api_error.ts";
import { printAt } from "../basics/errors/issue.ts";
import { NotWritableError } from "../catalogue/not_writable_error.ts";
import { toApiError } from "./database_status.ts";
import type { CreatePlan, NewRecord } from "./plan/create_plan.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { FailureKind } from "../database/postgres/failure_kind.ts";
import { SKIPPED } from "./sql/create.ts";
import { explainError } from "./explain_error.ts";
import { rejectSkipped } from "./insert_steps.ts";
import type { Run } from "./run.ts";

/** A record that the database refuses, and its error. */
export interface RefusedRecord {
  readonly error: unknown;
  readonly record: NewRecord;
}

/** A write of records that failed, and the body that it was made from. */
interface FailedWrite {
  readonly run: Run;
  readonly plan: CreatePlan;
  readonly document: unknown;
  /** Finds the record for which the database fails; undefined if none fails alone. */
  readonly findRefused?: () => Promise<RefusedRecord | undefined>;
}

/** Errors that the values or the row of one record cause. */
const OF_ONE_RECORD: ReadonlySet<FailureKind> = new Set(
  ["value", "not_null", "check", "conflict", "raised", "outside", "permission"],
);

/**
 * Returns the error of a write at the path of the record that causes it. Where several were written by
 * one statement, they are written one by one and rolled back, to find it.
 * @see CR10
 */
export async function explainRecords(error: unknown, failed: FailedWrite): Promise<unknown> {
  if (!(error instanceof DatabaseError) || !isErrorOfRecord(error)) return error;
  const { plan, findRefused } = failed;
  if (plan.records.length === 1) return await explainRecord(error, plan.records[0]!, failed);
  const refused = await findRefused?.();
  if (refused === undefined) return error.code === SKIPPED ? rejectSkipped([]) : error;
  return await explainRecord(refused.error, refused.record, failed);
}

/** Reports whether the values or the row of one record cause an error of the database. */
export function isErrorOfRecord({ kind, relation }: DatabaseError): boolean {
  return OF_ONE_RECORD.has(kind) && !relation?.startsWith("rowgate.");
}

async function explainRecord(
  error: unknown,
  record: NewRecord,
  { run, plan: { table }, document }: FailedWrite,
): Promise<unknown> {
  if (error instanceof DatabaseError && error.code === SKIPPED && !error.inFunction) {
    return rejectSkipped([record]);
  }
  const { path, assignments } = record;
  const plan = { path, fields: path, table, assignments };
  const explained = await explainError(error, { run, plan, document });
  if (!(explained instanceof DatabaseError)) return explained;
  if (explained.kind === "permission" || !OF_ONE_RECORD.has(explained.kind)) return explained;
  const { status, message, headers } = toApiError(explained);
  return new ApiError(status, `${printAt(path)}${message}`, { headers, cause: explained });
}

/** Reports whether an error is about one record, so that others can be written without it. */
export function isOfRecord(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500 && !(error instanceof NotWritableError);
}
