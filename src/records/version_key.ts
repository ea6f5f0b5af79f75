import type { Table } from "../catalogue/catalogue.ts";
import type { Cursors } from "../feeds/cursors/cursors.ts";
import { ApiError } from "../basics/errors/api_error.ts";
import type { Returned } from "./plan/returned.ts";

/** The parts of a plan that decide whether it reads versions of rows. */
interface MayRead {
  readonly table: Table;
  readonly expected?: readonly string[] | undefined;
  readonly returned?: Returned | undefined;
  readonly versioned?: boolean | undefined;
}

/**
 * Adds the key of the versions to a plan that reads them.
 * @throws {ApiError} 412 the plan expects a version, and there are none
 */
export async function withVersionKey<Plan extends object>(
  plan: Plan & Partial<MayRead>,
  cursors: Cursors,
): Promise<Plan> {
  const { table, expected, returned, versioned } = plan;
  if (expected === undefined && !returned?.versioned && !versioned) return plan;
  const versionKey = table?.pinnable ? await cursors.versionKey() : undefined;
  if (versionKey === undefined && expected !== undefined) throw rejectNoVersions();
  return { ...plan, versionKey };
}

/** Makes the 412 for a table whose rows have no versions. @see OR14 */
export function rejectNoVersions(): ApiError {
  const message = "If-Match: rows of this table have no versions, expected no such header; " +
    "nothing was changed";
  return new ApiError(412, message);
}
