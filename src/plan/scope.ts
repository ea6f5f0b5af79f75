import type { Column, Table, Tenancy } from "../catalogue/catalogue.ts";
import type { Access } from "../tokens/token.ts";

/**
 * The tenant's part of a plan. Every plan must have one: without it the plan does not type-check.
 * `shared` is a look-up table, which has no tenant and is never written.
 * @see S8
 */
export type Scope =
  | { readonly kind: "tenant"; readonly tenancy: Tenancy; readonly tenant: string }
  | { readonly kind: "shared"; readonly tenant: string };

/**
 * Returns the scope of a table for an access. No other function makes a scope.
 * @see S8
 */
export function planScope(table: Table, access: Access): Scope {
  const { tenant } = access;
  const { tenancy } = table;
  if (tenancy === undefined) return { kind: "shared", tenant };
  return { kind: "tenant", tenancy, tenant };
}

/** Reports whether a row refers by a column to the row that says whose it is. @see T61 */
export function namesParent(scope: Scope, { identifier }: Pick<Column, "identifier">): boolean {
  if (scope.kind === "shared") return false;
  const [first] = scope.tenancy.via;
  return first !== undefined && first.pairs.some(({ from }) => from === identifier);
}

/**
 * Returns the tenant of a batch, whose share of the connections it takes; undefined when its plans
 * are of several. A tenant that sends very many waits for its own requests, and others do not wait for it.
 */
export function findTenant(plans: readonly { readonly scope: Scope }[]): string | undefined {
  const tenant = plans[0]?.scope.tenant;
  return plans.every(({ scope }) => scope.tenant === tenant) ? tenant : undefined;
}
