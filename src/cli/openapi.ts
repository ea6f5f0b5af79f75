import type { Command } from "commander";
import { isOpenTo } from "../catalogue/resolve.ts";
import { describeService, type Holder } from "../interface/openapi/document.ts";
import type { Host } from "../runtime/host.ts";
import type { Run } from "./subcommand.ts";
import { withCatalogue } from "./with_database.ts";
import { withDatabase, type Workplace } from "./with_database.ts";

const EXAMPLE = `
A running server gives the same at /openapi.json; there a token gets its tenant's own.

Examples:
  rowgate openapi > openapi.json
  rowgate openapi --tenant acme    with the tables of the database, each typed`;

/** What `openapi` is given. */
interface OpenapiOptions {
  readonly tenant?: string;
}

/** Adds `rowgate openapi [--tenant T]`. @see R32 */
export function addOpenapi(root: Command, run: Run): void {
  root.command("openapi")
    .description("print the OpenAPI 3.1 document of the service")
    .option("--tenant <tenant>", "with the tables that a token of this tenant opens")
    .addHelpText("after", EXAMPLE)
    .action(({ tenant }: OpenapiOptions) =>
      run((host) => tenant === undefined ? print(host) : printTenant(host, tenant))
    );
}

function printTenant(host: Host, tenant: string): Promise<number> {
  return withDatabase(
    host,
    async (workplace) => print(host, await readHolder(workplace, tenant)),
  );
}

/** Gives what a token of a tenant opens that is restricted in nothing. */
export function readHolder(workplace: Workplace, tenant: string): Promise<Holder> {
  return withCatalogue(workplace, async (following) => {
    const { tables } = await following.current();
    const access: Holder["access"] = {
      tokenId: "",
      name: null,
      tenant,
      scopes: ["query", "update"],
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
