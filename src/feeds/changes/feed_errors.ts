import { ApiError } from "../../basics/errors/api_error.ts";
import { quote } from "../../basics/errors/issue.ts";

/** Why a cursor is no longer valid. */
export type Expiry = "age" | "shape" | "life";

const REASONS: Readonly<Record<Expiry, string>> = {
  age: "It is older than the changes that are kept",
  shape:
    "The table was altered, clients see other rows or columns of it, or its feed was off, since it was given",
  life: "The database was restored, replaced or failed over since it was given",
};

/** Makes the 410 for a cursor after which changes may be missing. @see CH12, CH13 */
export function rejectExpired(expiry: Expiry): ApiError {
  return new ApiError(410, `since: ${REASONS[expiry]}, begin again with since=start`);
}

/** Makes the 400 for a text that is not a cursor of this table and tenant. @see CH11 */
export function rejectCursor(text: string): ApiError {
  const expected = "expected start, now, or a cursor that was given for this table";
  return new ApiError(400, `since: ${quote(text)} is not a cursor of this table, ${expected}`);
}

/** Makes the 404 of a table without a feed. @see CH3 */
export function rejectNoFeed(table: string): ApiError {
  const advice = "the operator can enable it: rowgate changes enable";
  return new ApiError(404, `table: ${quote(table)} has no changes feed, ${advice}`, {
    stale: true,
  });
}

/** Makes the 404 for a feed that would miss changes. @see CH3 */
export function rejectIncomplete(table: string): ApiError {
  const advice = "the operator can repair it: rowgate changes enable";
  return new ApiError(404, `table: ${quote(table)} has an incomplete changes feed, ${advice}`, {
    stale: true,
  });
}

/** Makes the 503 for a page for which there is no memory. @see L14 */
export function rejectFull(): ApiError {
  const message = "Too many long responses are still being sent, try again in a second";
  return new ApiError(503, message, { headers: { "Retry-After": "1" } });
}

/** Makes the 503 for a standby. @see CH14 */
export function rejectStandby(): ApiError {
  const message = "The database is a standby, which cannot serve a changes feed";
  return new ApiError(503, message, { headers: { "Retry-After": "1" } });
}
