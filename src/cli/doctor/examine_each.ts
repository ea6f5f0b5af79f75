import { toApiError } from "../../records/database_status.ts";
import { DatabaseError } from "../../database/postgres/database_error.ts";
import type { Finding } from "./diagnosis.ts";

/** How the tables, or other things, of a check are examined. */
interface Examination<T> {
  /** The name of the check. */
  readonly check: string;
  readonly nameOf: (item: T) => string;
  readonly examine: (item: T) => Promise<readonly Finding[]>;
}

/**
 * Examines things one after another. One that the database cannot read is a finding, and the others are
 * examined all the same.
 * @throws {DatabaseError} the database is not available
 * @see R67
 */
export async function examineEach<T>(
  items: Iterable<T>,
  { check, nameOf, examine }: Examination<T>,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const item of items) {
    const name = nameOf(item);
    const found = await examine(item).catch((error) => [
      describeUnexamined(`not_examined:${check}:${name}`, `${name} could not be examined`, error),
    ]);
    findings.push(...found);
  }
  return findings;
}

/**
 * Describes what could not be examined, and why.
 * @throws {unknown} anything but a `DatabaseError`, and one of a database that is not available
 */
export function describeUnexamined(id: string, what: string, error: unknown): Finding {
  if (!(error instanceof DatabaseError) || error.kind === "unavailable") throw error;
  const { message } = toApiError(error);
  const isForbidden = error.kind === "permission";
  return {
    id,
    level: "warning",
    what: isForbidden
      ? `${what}: the database role may not read what this needs`
      : `${what}: ${message.charAt(0).toLowerCase()}${message.slice(1)} (${error.code})`,
    why: "what could not be examined may be unsafe",
    fix: isForbidden
      ? "run rowgate doctor as the owner of the tables"
      : error.kind === "unfilled"
      ? "refresh the materialized view that it reads: refresh materialized view …"
      : "read it with psql as the serving role, which says more; try again when the database is less busy",
  };
}
