import { ApiError } from "../errors.ts";
import type { UpdatePlan } from "../plan/update_plan.ts";

/** Makes the 409 for more matching rows than `Prefer: max-affected` allows. @see DECISIONS 4 */
export function refuseExceeded({ maxAffected }: UpdatePlan): ApiError {
  return new ApiError(
    409,
    `More than ${maxAffected} rows match the filters, the limit of max-affected; nothing was changed`,
  );
}
