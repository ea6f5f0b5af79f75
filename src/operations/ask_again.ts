import { failureOf } from "./call.ts";

/**
 * Undefined for a reading that failed together with others: each may be asked for again by itself.
 * @throws {ApiError} 503 where there is no database: for one statement there is none then either
 */
export function askAgain(error: unknown): undefined {
  if (failureOf(error)?.kind === "unavailable") throw error;
  return undefined;
}
