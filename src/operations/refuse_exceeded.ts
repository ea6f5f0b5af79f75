import { ApiError } from "../errors.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";

/** Makes the 409 for more matching rows than `Prefer: max-affected` allows. @see DECISIONS 4 */
export function refuseExceeded({ maxAffected }: UpdatePlan, matched: string): ApiError {
  const rows = matched === "1" ? "1 row matches" : `${matched} rows match`;
  return new ApiError(
    409,
    `${rows} the filters, more than max-affected=${maxAffected}; nothing was changed`,
  );
}
