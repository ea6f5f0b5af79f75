import type { Column, Table, Tenancy } from "../../catalogue/catalogue.ts";
import { ApiError } from "../../basics/errors/api_error.ts";
import { quote } from "../../basics/errors/issue.ts";
import type { Access } from "../../access/tokens/token.ts";
import type { Predicate } from "./predicate.ts";
import { planRowFilter } from "./row_filter.ts";

/**
 * The tenant's part of a plan. Every plan must have one: without it the plan does not type-check.
 * `shared` is for a look-up table, which has no tenant and is never written.
 * @see S8
 */
export type Scope =
  & (
    | { readonly kind: "tenant"; readonly tenancy: Tenancy; readonly tenant: string }
    | { readonly kind: "shared"; readonly tenant: string }
  )
  & {
    /** The row filter of the policy; left out: all rows of the tenant exist for clients. */
    readonly only?: Predicate;
  };

/**
 * Returns the scope of a table for an access. No other function makes a scope.
 * @throws {ApiError} 404 when the row filter of the policy does not fit the table, as for a table that is
 * not exposed
 * @see S8
 */
export function planScope(table: Table, access: Access): Scope {
  const { tenant } = access;
  const { tenancy, only } = table;
  const scope: Scope = tenancy === undefined
    ? { kind: "shared", tenant }
    : { kind: "tenant", tenancy, tenant };
  if (only === undefined) return scope;
  const planned = planRowFilter(table);
  if ("problem" in planned) {
    throw new ApiError(404, `table: ${quote(table.name)} was not found`, { stale: true });
  }
  return { only: planned.predicate, ...scope };
}

/** Returns a column of the table itself that every statement reads for the scope. */
export function ownColumn({ tenancy: { columns, via } }: Scope & { readonly kind: "tenant" }): Pick<
  Column,
  "identifier"
> {
  const [first] = via;
  return first === undefined ? columns[0]! : { identifier: first.pairs[0]!.from };
}

/** Reports whether a column refers to the parent row, which determines the tenant. @see T61 */
export function namesParent(scope: Scope, { identifier }: Pick<Column, "identifier">): boolean {
  if (scope.kind === "shared") return false;
  return refersBy(scope.tenancy, { identifier });
}

/** Reports whether a column is part of the foreign key with which a path to a tenant begins. */
export function refersBy(
  { via: [first] }: Tenancy,
  { identifier }: Pick<Column, "identifier">,
): boolean {
  return first !== undefined && first.pairs.some(({ from }) => from === identifier);
}

/**
 * Returns the tenant of a batch, whose share of the connections the batch takes; undefined if its
 * plans belong to several. So a tenant that sends very many requests waits for its own, and others do
 * not wait for it.
 */
export function findTenant(plans: readonly { readonly scope: Scope }[]): string | undefined {
  const tenant = plans[0]?.scope.tenant;
  return plans.every(({ scope }) => scope.tenant === tenant) ? tenant : undefined;
}
