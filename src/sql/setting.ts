import type { Fragment, Sql } from "postgres";

/**
 * The setting that carries the tenant into a statement for the operator's own row level security:
 * name and tenant. Every statement then reads FROM it and has all else in scalar subqueries, which
 * run lazily and so behind it; other shapes were measured to see no rows.
 * @see RELIABILITY 3c
 */
export interface TenantSetting {
  readonly name: string;
  readonly tenant: string;
}

/** The first common table expression, with its comma; empty without a setting. */
export function compileSetting(sql: Sql, setting: TenantSetting | undefined): Fragment {
  if (setting === undefined) return sql``;
  return sql`"$c" as materialized (select set_config(${setting.name}::text, ${setting.tenant}::text, true) "$s"), `;
}

/** What the outermost SELECT reads from; empty without a setting. */
export function compileFromSetting(sql: Sql, setting: TenantSetting | undefined): Fragment {
  return setting === undefined ? sql`` : sql` from "$c" where "$c"."$s" is not null`;
}
