import type { Fragment, PendingQuery, Row, Sql } from "../../database/postgres/driver.ts";
import { join } from "./fragment.ts";

/**
 * A setting that a statement makes for itself: the tenant, for the operator's own row level security,
 * or one that a session behind a pooler may have lost. A statement with settings reads FROM them and
 * has everything else in scalar subqueries, which run lazily and therefore after the settings. In
 * other shapes Postgres was seen to apply the policies first, and found no rows.
 * @see P26
 */
export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** Compiles the first common table expression, with its comma; empty without settings. */
export function compileSettings(sql: Sql, settings: readonly Setting[]): Fragment {
  if (settings.length === 0) return sql``;
  return sql`
    "$settings" as materialized (
      select ${compileSetConfig(sql, settings)} "$made"
    ),`;
}

/** Compiles the FROM of the outermost SELECT; empty without settings. */
export function compileFromSettings(sql: Sql, settings: readonly Setting[]): Fragment {
  if (settings.length === 0) return sql``;
  return sql`
    from "$settings"
    where "$settings"."$made" is not null`;
}

/** Compiles a statement that makes the settings of the rest of a transaction. */
export function compileSetStep(sql: Sql, settings: readonly Setting[]): PendingQuery<Row[]> {
  return sql`select ${compileSetConfig(sql, settings)}`;
}

/** Compiles one expression that makes all settings, until the transaction ends. */
function compileSetConfig(sql: Sql, settings: readonly Setting[]): Fragment {
  const calls = settings.map(({ name, value }) =>
    sql`set_config(${name}::text, ${value}::text, true)`
  );
  return sql`concat(${join(sql, ",", calls)})`;
}
