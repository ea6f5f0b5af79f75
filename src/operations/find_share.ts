import type { Scope } from "../plan/scope.ts";

/**
 * Tells whose share of the connections plans take that go out together: their tenant's when they have
 * one in common. So a tenant that sends very many waits for itself, and who is beside it does not.
 */
export function findShare(plans: readonly { readonly scope: Scope }[]): string | undefined {
  const tenant = plans[0]?.scope.tenant;
  return plans.every(({ scope }) => scope.tenant === tenant) ? tenant : undefined;
}
