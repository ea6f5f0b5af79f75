import { ApiError } from "../basics/errors/api_error.ts";
import { printAt } from "../basics/errors/issue.ts";
import { toApiError } from "./database_status.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";
import { DatabaseError } from "../database/postgres/database_error.ts";
import type { FailureKind } from "../database/postgres/failure_kind.ts";
import { explainError } from "./explain_error.ts";
import type { Run } from "./run.ts";

/** Errors that the values or the row of one update cause. */
const OF_ONE_UPDATE: ReadonlySet<FailureKind> = new Set(
  ["conflict", "raised", "outside", "locked"],
);

/** Turns the error of an update into that of the batch: its path comes first. */
export async function explainAt(
  error: DatabaseError,
  failed: { readonly run: Run; readonly plan: UpdatePlan; readonly document: unknown },
): Promise<unknown> {
  const explained = await explainError(error, failed);
  if (!(explained instanceof DatabaseError) || !OF_ONE_UPDATE.has(explained.kind)) return explained;
  const { status, message, headers } = toApiError(explained);
  const at = printAt(failed.plan.path);
  return new ApiError(status, `${at}${message}`, { headers, cause: explained });
}
