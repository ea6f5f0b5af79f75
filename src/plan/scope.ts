import type { Table, TenantColumn } from "../catalogue/catalogue.ts";
import type { Access } from "../tokens/token.ts";

/**
 * The tenant's part of a plan. Every plan must have one: without it the plan does not type-check.
 * `shared` is a look-up table, which has no tenant column and is never written.
 * @see S8
 */
export type Scope =
  | { readonly kind: "tenant"; readonly column: TenantColumn; readonly tenant: string }
  | { readonly kind: "shared"; readonly tenant: string };

/**
 * Returns the scope of a table for an access. No other function makes a scope.
 * @see S8
 */
export function planScope(table: Table, access: Access): Scope {
  const { tenant } = access;
  if (table.tenant === undefined) return { kind: "shared", tenant };
  return { kind: "tenant", column: table.tenant, tenant };
}

/**
 * Returns the tenant of a batch, whose share of the connections it takes; undefined when its plans
 * are of several. A tenant that sends very many waits for its own requests, and others do not wait for it.
 */
export function findTenant(plans: readonly { readonly scope: Scope }[]): string | undefined {
  const tenant = plans[0]?.scope.tenant;
  return plans.every(({ scope }) => scope.tenant === tenant) ? tenant : undefined;
}
