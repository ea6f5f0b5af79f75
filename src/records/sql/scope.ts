import type { SqlText, TenantColumn } from "../../catalogue/catalogue.ts";
import { splitTenant } from "../../catalogue/tenant_column.ts";
import type { Scope } from "../plan/scope.ts";
import type { Fragment, Sql } from "../../database/postgres/driver.ts";
import { compileColumn, join, literal } from "./fragment.ts";
import { compileComparison } from "./operator.ts";

/** The scope of a table whose rows belong to tenants. */
export type TenantScope = Scope & { readonly kind: "tenant" };

/**
 * How the parent rows that lead to the tenant are read:
 *
 * - `seen`, as the statement's snapshot has them; Postgres joins them in the best order;
 * - `locked`, as they are now, and so they stay until the transaction ends: a statement that writes
 *   must know that the tenant is still the same. They are looked up for each row that meets all else;
 * - `joined`, both ways, where a statement would otherwise look up those of all tenants.
 */
export type ScopeReading = "seen" | "locked" | "joined";

/**
 * Compiles the tenant's part of a WHERE: on the tenant column of the row itself, or of the row that
 * it belongs to by foreign keys.
 * @see S8, T59
 */
export function compileScope(sql: Sql, scope: TenantScope, reading: ScopeReading): Fragment {
  if (scope.tenancy.via.length === 0) {
    return join(sql, "and", compileTenant(sql, scope, (column) => compileColumn(sql, column)));
  }
  const own = (from: SqlText) => compileColumn(sql, { identifier: from });
  const seen = compileBelongs(sql, scope, { locks: false, own });
  if (reading === "seen") return seen;
  const locked = compileBelongs(sql, scope, { locks: true, own });
  return reading === "locked" ? locked : sql`${seen} and ${locked}`;
}

/** Options of {@link compileBelongs} besides the scope. */
interface BelongsOptions {
  readonly locks: boolean;
  /** Compiles the values by which a row refers to the first row of the path. */
  readonly own: (from: SqlText) => Fragment;
}

/** Compiles whether a row belongs to the tenant by foreign keys. */
export function compileBelongs(
  sql: Sql,
  scope: TenantScope,
  { locks, own }: BelongsOptions,
): Fragment {
  const { via } = scope.tenancy;
  const alias = (place: number) => literal(sql, `"$parent${place + 1}"` as SqlText);
  const member = (place: number, identifier: SqlText) =>
    sql`${alias(place)}.${literal(sql, identifier)}`;
  const sources = via.map(({ source }, place) => sql`${literal(sql, source)} ${alias(place)}`);
  const same = via.flatMap(({ pairs }, place) =>
    pairs.map((pair) =>
      compileComparison(sql, "=", {
        column: pair,
        left: member(place, pair.to),
        right: place === 0 ? own(pair.from) : member(place - 1, pair.from),
      })
    )
  );
  const bound = compileTenant(sql, scope, (column) => member(via.length - 1, column.identifier));
  return sql`
    exists (
      select from ${join(sql, ",", sources)}
      where ${join(sql, "and", [...same, ...bound])} ${locks ? sql`for share` : sql``}
    )`;
}

/** Compiles the condition that each tenant column has its part of the tenant. */
function compileTenant(
  sql: Sql,
  { tenancy: { columns }, tenant }: TenantScope,
  compile: (column: TenantColumn) => Fragment,
): Fragment[] {
  const parts = splitTenant(tenant, columns.length);
  // The table does not exist for such a token.
  if (parts === undefined) throw new Error("a tenant that does not fit reached a statement");
  return columns.map((column, place) =>
    sql`${compile(column)} = ${parts[place]!}::text::${literal(sql, column.cast)}`
  );
}
