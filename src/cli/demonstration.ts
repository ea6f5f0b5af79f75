import type { Database } from "../postgres/database.ts";
import { fillDemonstration } from "../demonstration/fill.ts";
import { DEMONSTRATION_TENANTS } from "../demonstration/policy.ts";
import { SHOPS } from "../demonstration/shops.ts";
import type { Output } from "../runtime/host.ts";
import { createToken } from "../tokens/manage.ts";
import { showWork } from "./show_work.ts";

/** What the first start has made. */
export interface Demonstration {
  readonly tokens: readonly { readonly tenant: string; readonly token: string }[];
}

/**
 * Fills the embedded database on its first start, and makes a token for each tenant.
 * @returns undefined when there were tables already
 * @see R4
 */
export async function prepareDemonstration(
  database: Database,
  output: Output,
): Promise<Demonstration | undefined> {
  const shops = SHOPS.map((shop) => shop.name).join(" and ");
  const what = `Filling a demonstration, ${shops}`;
  if (!await showWork(output, what, (tell) => fillDemonstration(database, tell))) {
    return undefined;
  }
  const tokens = [];
  for (const tenant of DEMONSTRATION_TENANTS) {
    const created = await createToken(database, {
      tenant,
      name: "demonstration",
      scopes: ["query", "update"],
      tables: null,
      expiry: { kind: "after", seconds: 365 * 86_400 },
    });
    if (created !== undefined) tokens.push({ tenant, token: created.token });
  }
  return { tokens };
}
