import type { Database } from "../database/database.ts";
import { fillDemonstration } from "../demonstration/fill.ts";
import { DEMONSTRATION_TENANTS } from "../demonstration/policy.ts";
import { createToken } from "../tokens/manage.ts";

/** What the first start has made. */
export interface Demonstration {
  readonly tokens: readonly { readonly tenant: string; readonly token: string }[];
}

/**
 * Fills the embedded database on its first start, and makes a token for each tenant.
 * @returns undefined when there were tables already
 * @see DECISIONS 9
 */
export async function prepareDemonstration(
  database: Database,
  write: (text: string) => void,
): Promise<Demonstration | undefined> {
  if (!await fillDemonstration(database, (doing) => write(`${doing}\n`))) return undefined;
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
