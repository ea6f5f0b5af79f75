import { makeQuery, type Sql } from "./driver.ts";

/**
 * What becomes of the statements that a session prepares. `own`: it has a backend for itself, and keeps
 * them. `shared`: a pooler keeps them for it, whichever backend it lends. `none`: they would be lost.
 */
export type Keeping = "own" | "shared" | "none";

const KEEPING = new WeakMap<Sql, Keeping>();

/** Says what becomes of the statements of a session; `own` where nothing was noted. */
export function keepingOf(sql: Sql): Keeping {
  return KEEPING.get(sql) ?? "own";
}

/** Notes what becomes of the statements of a session. */
export function noteKeeping(sql: Sql, keeping: Keeping): void {
  KEEPING.set(sql, keeping);
}

/** Every session prepares the same text under the same name, so that a pooler has one of them. */
const PROBE = "rowgate_probe";
const TEXT = "select pg_catalog.count(*)::text as kept from pg_catalog.pg_prepared_statements " +
  `where name = '${PROBE}'`;

/** Notes what becomes of the statements of a session behind a pooler; `unknown` is found out. */
export async function settleKeeping(sql: Sql, keeping: Keeping | "unknown"): Promise<void> {
  noteKeeping(sql, keeping === "unknown" ? await findKeeping(sql) : keeping);
}

/**
 * Finds out whether a pooler keeps statements, as PgBouncer does from 1.21 on with
 * `max_prepared_statements` above 0: then the backend does not have them under the name that the session
 * gave, since two sessions may use the same. Where they are passed on as they are, it has.
 */
async function findKeeping(sql: Sql): Promise<Keeping> {
  try {
    const statement = { name: PROBE };
    const [row] = await makeQuery<{ kept: string }>(sql, { text: TEXT, parameters: [] }, statement);
    return row?.kept === "0" ? "shared" : "none";
  } catch (error) {
    // Another session has left its own on the backend: 42P05. Anything else ends this one as well.
    if ((error as { readonly name?: unknown }).name !== "PostgresError") throw error;
    return "none";
  }
}
