import { ApiError } from "../basics/errors/api_error.ts";
import { DatabaseError, findDatabaseError } from "../database/postgres/database_error.ts";
import type { Catalogue } from "./catalogue.ts";
import type { CurrentCatalogue } from "./current_catalogue.ts";
import { NotWritableError } from "./not_writable_error.ts";

/** Returns the current catalogue, each time it is called. */
export type GetCatalogue = () => Promise<Catalogue>;

/**
 * Makes an attempt on the current catalogue. If it fails in a way that a newer catalogue may fix,
 * makes another one on a fresh catalogue. Closes a table that turns out not to be updatable.
 * @see T42, M31
 */
export async function retryOnFreshCatalogue<T>(
  attempt: (current: GetCatalogue) => Promise<T>,
  { source, table }: { readonly source: CurrentCatalogue; readonly table: string },
): Promise<T> {
  let seen: Catalogue | undefined;
  const current = async () => seen = await source.current();
  const learn = (error: unknown) => {
    if (error instanceof NotWritableError) source.closeTable(error.table);
  };
  try {
    return await attempt(current);
  } catch (error) {
    learn(error);
    if (seen === undefined || !isStale(error)) throw error;
    const databaseError = findDatabaseError(error);
    const reason = databaseError?.code ?? "rejected";
    // An error from the database justifies a new reading; the mistakes of a client, which it may
    // repeat at will, do not.
    const failed = databaseError === undefined ? undefined : `${table} ${reason}`;
    if (!await source.refresh(seen, { reason, failed })) throw settle(error);
  }
  try {
    return await attempt(current);
  } catch (error) {
    learn(error);
    throw settle(error);
  }
}

/**
 * Reports whether a fresh catalogue may help. `permission` counts: after a right was revoked, the old
 * catalogue still has the column.
 */
function isStale(error: unknown): boolean {
  if (error instanceof DatabaseError) return error.kind === "stale" || error.kind === "permission";
  return error instanceof ApiError && error.stale;
}

/**
 * Settles an error of the second attempt: the database cannot do it at all. An example is `like` on a
 * column whose collation does not support patterns.
 */
function settle(error: unknown): unknown {
  if (!(error instanceof DatabaseError) || error.kind !== "stale") return error;
  // It does what it did before, whatever the catalogue knows.
  if (error.inFunction) return new DatabaseError({ ...error, kind: "raised" }, error);
  const message = "The database cannot do this with the columns that the request names";
  return new ApiError(400, message, { cause: error });
}
