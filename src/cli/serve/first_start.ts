import { DEFAULT_SCOPES } from "../../access/scopes.ts";
import type { Config } from "../../server/config/config.ts";
import { printAgent, printExample, printFollowing } from "../demonstration/example.ts";
import { fillDemonstration } from "../demonstration/fill.ts";
import { SHOPS } from "../demonstration/shops.ts";
import { hasCluster } from "../../database/embedded/data_directory.ts";
import type { Database } from "../../database/postgres/database.ts";
import type { Output } from "../../server/runtime/host.ts";
import { createToken } from "../../access/tokens/manage.ts";
import { showWork } from "../progress.ts";

/** What the first start has made: a token for each tenant. */
export interface Demonstration {
  readonly tokens: readonly { readonly tenant: string; readonly token: string }[];
}

/**
 * Says at once what a first start does: the embedded Postgres works in this thread, where nothing can
 * be shown meanwhile.
 * @see R56
 */
export async function announceFirstStart(config: Config, output: Output): Promise<void> {
  if (await hasCluster(config.dataDir)) return;
  output.write(
    `First start: creating an embedded Postgres in ${config.dataDir} and filling it with a ` +
      "demonstration, a few seconds\n",
  );
}

/**
 * Fills the embedded database on its first start, and makes a token for each tenant. If the start is
 * ended meanwhile, nothing is kept, and the next one fills it and shows the tokens.
 * @returns undefined when there were tables already
 * @see R4
 */
export async function prepareDemonstration(
  database: Database,
  { output, stopping }: { readonly output: Output; readonly stopping: AbortSignal },
): Promise<Demonstration | undefined> {
  const names = SHOPS.map(({ name }) => name).join(" and ");
  const filled = await showWork(
    output,
    `Filling the demonstration (${names})`,
    (report) => fillDemonstration(database, { report, signal: stopping }),
  );
  if (!filled) return undefined;
  const tokens = [];
  for (const { tenant } of SHOPS) {
    const created = await createToken(database, {
      tenant,
      name: "demonstration",
      scopes: DEFAULT_SCOPES,
      tables: null,
      expiry: { kind: "after", seconds: 365 * 86_400 },
    });
    if (created !== undefined) tokens.push({ tenant, token: created.token });
  }
  return { tokens };
}

/** What the banner shows. */
export interface BannerOptions {
  readonly address: string;
  readonly config: Config;
  /** Undefined: the data was there before. */
  readonly demonstration: Demonstration | undefined;
}

/**
 * Prints what a person wants to know when the embedded Postgres serves: the address, the tokens,
 * commands that work when pasted, and where the data is.
 * @see R5, MC20
 */
export function printBanner({ address, config, demonstration }: BannerOptions): string {
  const hint = config.console ? " (open it in a browser for a console)" : "";
  const lines = [
    `  Rowgate serves at ${address}${hint}`,
    `  Database: embedded Postgres in ${config.dataDir}; DATABASE_URL names your own.`,
    "",
    ...demonstration === undefined
      ? describeKeptData()
      : describeDemonstration(demonstration, { address, config }),
    "",
    "",
  ];
  return lines.join("\n");
}

function describeDemonstration(
  { tokens }: Demonstration,
  { address, config }: Pick<BannerOptions, "address" | "config">,
): readonly string[] {
  const width = Math.max(...tokens.map(({ tenant }) => tenant.length));
  const { tenant, token } = tokens[0]!;
  return [
    "  A token for each tenant of the demonstration, shown only this once:",
    ...tokens.map(({ tenant, token }) => `    ${tenant.padEnd(width)}  ${token}`),
    "",
    `  Query some orders of ${tenant}:`,
    printExample({ address, token }),
    "",
    "  Follow what changes in them:",
    printFollowing({ address, token }),
    ...(config.mcp
      ? ["", "  Give it to an agent, here Claude Code:", printAgent({ address, token })]
      : []),
  ];
}

function describeKeptData(): readonly string[] {
  const command = `token create --tenant ${SHOPS[0]!.tenant}`;
  return [
    "  The data of an earlier start is still there. To make a new token, stop this server and run:",
    `    rowgate ${command}`,
    `  or, in a clone of the repository: npx -y deno task rowgate ${command}`,
  ];
}
