import { tenantFits } from "../catalogue/tenant_fits.ts";
import { withCatalogue } from "./with_catalogue.ts";
import type { Workplace } from "./with_database.ts";

/**
 * Gives a warning when no exposed table can hold the tenant at all: the token of a customer's name where
 * tenants are numbers would see nothing. A tenant without rows yet is none of our business.
 */
export async function warnOfTenant(
  workplace: Workplace,
  tenant: string,
): Promise<string | undefined> {
  try {
    const quiet = { ...workplace, observe: () => {} };
    const catalogue = await withCatalogue(quiet, async (following) => await following.current());
    const kinds = [...catalogue.tables.values()].flatMap(({ tenant }) => tenant?.kind ?? []);
    if (kinds.length === 0 || kinds.some((kind) => tenantFits(tenant, kind))) return undefined;
    const expected = [...new Set(kinds)].sort().join(" or ");
    return `no table can hold the tenant ${
      JSON.stringify(tenant)
    }, tenants are of type ${expected} here`;
  } catch {
    // The token is made; what is wrong with the tables, "rowgate tables" tells.
    return undefined;
  }
}
