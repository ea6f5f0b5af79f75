import type { Fragment, PendingQuery, Row, Sql } from "../postgres/driver.ts";
import { join } from "./fragment.ts";

/**
 * A setting that a statement makes for itself: the tenant, for the operator's own row level security,
 * or what a pooler's session can't be trusted to have. Every statement with settings reads FROM them
 * and has all else in scalar subqueries, which run lazily and so behind them; other shapes were
 * measured to see no rows.
 * @see P26
 */
export interface Setting {
  readonly name: string;
  readonly value: string;
}

/** The first common table expression, with its comma; empty without settings. */
export function compileSettings(sql: Sql, settings: readonly Setting[]): Fragment {
  if (settings.length === 0) return sql``;
  return sql`"$c" as materialized (select ${compileSetConfig(sql, settings)} "$s"), `;
}

/** What the outermost SELECT reads from; empty without settings. */
export function compileFromSettings(sql: Sql, settings: readonly Setting[]): Fragment {
  return settings.length === 0 ? sql`` : sql` from "$c" where "$c"."$s" is not null`;
}

/** One expression that makes all settings, until the transaction ends. */
export function compileSetConfig(sql: Sql, settings: readonly Setting[]): Fragment {
  const calls = settings.map(({ name, value }) =>
    sql`set_config(${name}::text, ${value}::text, true)`
  );
  return sql`concat(${join(sql, ",", calls)})`;
}

/** Compiles the settings of a whole transaction of the lane. */
export function compileSetStep(sql: Sql, settings: readonly Setting[]): PendingQuery<Row[]> {
  return sql`select ${compileSetConfig(sql, settings)}`;
}
