import { ApiError } from "../../basics/errors/api_error.ts";
import { quote } from "../../basics/errors/issue.ts";
import type { UpdateBody } from "../../request/update_request.ts";
import { asDeletedFrom, planRemoval } from "./removal.ts";
import { planUpdate, type UpdateOptions, type UpdatePlan } from "./update_plan.ts";

/**
 * Plans a delete: an update without new values, which removes its rows.
 * @throws {ApiError} 400 at each name or value that does not fit the table; 403 the token may not use a
 * table whose rows a delete takes with it
 * @see DE1, DE12
 */
export function planDelete(request: UpdateBody, options: UpdateOptions): UpdatePlan {
  const { table, access: { tables } } = options;
  const reached = table.softDelete === undefined ? table.cascades ?? [] : [];
  const isGranted = ({ table }: { readonly table: string | undefined }) =>
    tables === null || table === undefined || tables.includes(table);
  if (!reached.every(isGranted)) {
    const message = `table: ${quote(table.name)} has records whose deletion reaches tables ` +
      "that the token does not grant";
    throw new ApiError(403, message);
  }
  const removal = planRemoval(table);
  return { ...planUpdate(request, options), table: asDeletedFrom(table), removal };
}
