import type { Config } from "../../config/config.ts";
import { printExample } from "../../demonstration/example.ts";
import { DEMONSTRATION_TENANTS } from "../../demonstration/schema.ts";
import type { Database } from "../../postgres/database.ts";
import { fillDemonstration } from "../../demonstration/fill.ts";
import { SHOPS } from "../../demonstration/shops.ts";
import type { Output } from "../../runtime/host.ts";
import { createToken } from "../../tokens/manage.ts";
import { showWork } from "../progress.ts";

/** What a person is told once the embedded default serves. */
export interface BannerOptions {
  readonly address: string;
  readonly config: Config;
  /** Undefined: the data was there before. */
  readonly demonstration: Demonstration | undefined;
}

/**
 * Prints what a person wants to know after the start without a database of their own: address, tokens,
 * a `curl` line that works when pasted, where the data lies.
 * @see R5
 */
export function printBanner({ address, config, demonstration }: BannerOptions): string {
  const head = [
    "",
    `  Rowgate serves at ${address}`,
    `  Embedded Postgres, data in ${config.dataDir}. DATABASE_URL points it at your own.`,
    ...(config.console ? ["  A browser finds a console there: it asks for a token."] : []),
    "",
  ];
  const first = demonstration?.tokens[0];
  if (demonstration === undefined || first === undefined) {
    return [
      ...head,
      "  The data of an earlier start was kept. For a new token stop this server, then:",
      `    rowgate token create --tenant ${DEMONSTRATION_TENANTS[0]}`,
      `  (from a clone: npx -y deno task rowgate token create --tenant ${
        DEMONSTRATION_TENANTS[0]
      })`,
      "",
      "",
    ].join("\n");
  }
  const width = Math.max(...demonstration.tokens.map(({ tenant }) => tenant.length));
  return [
    ...head,
    "  A token for each tenant of the demonstration, shown this once:",
    ...demonstration.tokens.map(({ tenant, token }) => `    ${tenant.padEnd(width)}  ${token}`),
    "",
    `  Ask for some orders of ${first.tenant}:`,
    "",
    printExample({ address, token: first.token }),
    "",
    "",
  ].join("\n");
}

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
