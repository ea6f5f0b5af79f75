import * as v from "valibot";
import { quote } from "../errors/issue.ts";

/** The number of a page, from 1. @see Q70 */
export const PAGE = v.custom<number>(isCount, ({ input }) => {
  // Beyond it a client's number was rounded already, whole though it is.
  const beyond = typeof input === "number" && input > Number.MAX_SAFE_INTEGER;
  const range = beyond ? `up to ${Number.MAX_SAFE_INTEGER}` : "from 1";
  return `${quote(input)} is not a page, expected a whole number ${range}`;
});

/** Rows per page, from 1; what is above the cap is not refused. @see Q76, Q78 */
export const PER_PAGE = v.custom<number>(
  isCount,
  (issue) => `${quote(issue.input)} is not a number of rows, expected a whole number from 1 to 200`,
);

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}
