import { makeQuery, type Sql } from "./driver.ts";

/**
 * Where the prepared statements of a session are kept. `own`: in its backend, which only it uses.
 * `shared`: by a pooler, whichever backend it lends. `none`: nowhere, they would be lost.
 */
export type Keeping = "own" | "shared" | "none";

const KEEPING = new WeakMap<Sql, Keeping>();

/** Returns where the statements of a session are kept; `own` if nothing was recorded. */
export function keepingOf(sql: Sql): Keeping {
  return KEEPING.get(sql) ?? "own";
}

/** Records where the statements of a session are kept. */
export function noteKeeping(sql: Sql, keeping: Keeping): void {
  KEEPING.set(sql, keeping);
}

/** Every session prepares the same text under the same name, so that a pooler keeps only one. */
const PROBE = "rowgate_probe";
const TEXT = `select pg_catalog.count(*)::pg_catalog.text as kept
  from pg_catalog.pg_prepared_statements where name operator(pg_catalog.=) '${PROBE}'`;

/**
 * Records where the statements of a session behind a pooler are kept; finds it out if it is
 * `unknown`.
 */
export async function settleKeeping(sql: Sql, keeping: Keeping | "unknown"): Promise<void> {
  noteKeeping(sql, keeping === "unknown" ? await findKeeping(sql) : keeping);
}

/**
 * Finds out whether a pooler keeps statements, as PgBouncer does from version 1.21 with
 * `max_prepared_statements` above 0. Such a pooler renames statements, since two sessions may use the
 * same name. So if the backend has one under the session's own name, the pooler does not keep them.
 */
async function findKeeping(sql: Sql): Promise<Keeping> {
  try {
    const statement = { name: PROBE };
    const [row] = await makeQuery<{ kept: string }>(sql, { text: TEXT, parameters: [] }, statement);
    return row?.kept === "0" ? "shared" : "none";
  } catch (error) {
    // 42P05: another session has left its statement on the backend. Any other error ends this
    // session.
    if ((error as { readonly name?: unknown }).name !== "PostgresError") throw error;
    return "none";
  }
}
