import { ApiError } from "../basics/errors/api_error.ts";
import { printAt } from "../basics/errors/issue.ts";
import type { UpdatePlan } from "./plan/update_plan.ts";

/** Reports whether more rows match than may be written; `matched` is a string of digits. */
export function exceeds(matched: string, maxRows: number | undefined): boolean {
  return maxRows !== undefined && BigInt(matched) > BigInt(maxRows);
}

/** Makes the 409 for more matching rows than `Prefer: max-affected` allows. @see U44 */
export function rejectExceeded(
  { path, maxAffected }: Pick<UpdatePlan, "path" | "maxAffected">,
  matched: string,
): ApiError {
  const rows = matched === "1" ? "1 row matches" : `${matched} rows match`;
  return new ApiError(
    409,
    `${
      printAt(path)
    }${rows} the filters, more than max-affected=${maxAffected}; nothing was changed`,
  );
}
