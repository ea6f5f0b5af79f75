import { DatabaseError } from "../postgres/database_error.ts";

/**
 * Undefined for a reading that failed together with others: each may be asked for again by itself.
 * @throws {DatabaseError} where there is no database: for one statement there is none then either
 */
export function askAgain(error: unknown): undefined {
  if (error instanceof DatabaseError && error.kind === "unavailable") throw error;
  return undefined;
}
