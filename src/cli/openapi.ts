import { DEFAULT_SCOPES } from "../access/scopes.ts";
import type { Command } from "commander";
import { isOpenTo } from "../catalogue/resolve.ts";
import { describeService } from "../describe/interface/openapi/document.ts";
import type { Holder } from "../describe/interface/openapi/holder.ts";
import type { Host } from "../server/runtime/host.ts";
import type { RunWork } from "./subcommand.ts";
import { type OpenedDatabase, withCatalogue, withDatabase } from "./with_database.ts";

const EXAMPLES = `
A running server gives the same document at /openapi.json; with a token, the one of its tenant.

Examples:
  rowgate openapi > openapi.json
  rowgate openapi --tenant acme    With the tables of the database and their types`;

interface OpenapiOptions {
  readonly tenant?: string;
}

/** Adds `rowgate openapi [--tenant T]`. @see R32 */
export function addOpenapi(root: Command, run: RunWork): void {
  root.command("openapi")
    .description("Print the OpenAPI 3.1 document of the service")
    .option("--tenant <tenant>", "Include the tables that this tenant's tokens reach")
    .addHelpText("after", EXAMPLES)
    .action(({ tenant }: OpenapiOptions) =>
      run((host) => tenant === undefined ? print(host) : printForTenant(host, tenant))
    );
}

function printForTenant(host: Host, tenant: string): Promise<number> {
  return withDatabase(host, async (opened) => print(host, await readHolder(opened, tenant)));
}

/** Returns what an unrestricted token of a tenant reaches. */
export function readHolder(opened: OpenedDatabase, tenant: string): Promise<Holder> {
  return withCatalogue(opened, async (current) => {
    const { tables } = await current.current();
    const access: Holder["access"] = {
      tokenId: "",
      name: null,
      tenant,
      scopes: DEFAULT_SCOPES,
      tables: null,
      expiresAt: null,
    };
    return { access, tables: [...tables.values()].filter((table) => isOpenTo(table, access)) };
  });
}

function print(host: Host, holder?: Holder): Promise<number> {
  host.stdout.write(`${JSON.stringify(describeService(holder), null, 2)}\n`);
  return Promise.resolve(0);
}
