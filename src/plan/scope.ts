import type { TenantColumn } from "../catalogue/catalogue.ts";

/**
 * The tenant predicate of a plan. Required in every plan: one without a tenant does not type-check.
 * `shared` is a look-up table that has no tenant column and is never written.
 * @see spec 5
 */
export type Scope =
  | { readonly kind: "tenant"; readonly column: TenantColumn; readonly tenant: string }
  | { readonly kind: "shared"; readonly tenant: string };
