import { type Command, Option } from "commander";
import { describeService } from "../interface/openapi/document.ts";
import type { Host } from "../runtime/host.ts";
import { TOKEN_VARIABLE } from "../config/settings.ts";
import { printTables } from "../interface/typescript/print_tables.ts";
import { readTypedTables } from "../interface/typescript/typed_table.ts";
import { readHolder } from "./openapi.ts";
import type { Run } from "./subcommand.ts";
import { FAILED, stop, WRONG_USAGE } from "./stop.ts";
import { withDatabase } from "./with_database.ts";

const DEFAULT_URL = "http://127.0.0.1:8080";

const EXAMPLE = `
The types go to standard output, as a module of TypeScript for "rowgate/client". A token on a
command line is seen by others on the machine: ${TOKEN_VARIABLE} is better.

Examples:
  ${TOKEN_VARIABLE}=rg_… rowgate types --url https://rows.example.com > tables.ts
  DATABASE_URL=postgres://… rowgate types --tenant acme > tables.ts`;

/** What `types` is given. */
interface TypesOptions {
  readonly url?: string;
  readonly token?: string;
  readonly tenant?: string;
  readonly wideNumbers: boolean;
}

/** Adds `rowgate types [--url U] [--token T] | --tenant T`. */
export function addTypes(root: Command, run: Run): void {
  root.command("types")
    .description("print the tables that a token opens as TypeScript types")
    .option("--url <url>", `address of a server that runs (default: ${DEFAULT_URL})`)
    .option("--token <token>", `token to ask it with (default: ${TOKEN_VARIABLE})`)
    .addOption(
      new Option(
        "--tenant <tenant>",
        "ask the database instead, for what this tenant's tokens open",
      )
        .conflicts(["url", "token"]),
    )
    .option("--wide-numbers", "type 64-bit integers and numeric as strings", false)
    .addHelpText("after", EXAMPLE)
    .action((options: TypesOptions) => run((host) => printTypes(host, options)));
}

function printTypes(host: Host, options: TypesOptions): Promise<number> {
  const { tenant } = options;
  if (tenant === undefined) return printServed(host, options);
  return withDatabase(host, async (workplace) => {
    const document = describeService(await readHolder(workplace, tenant));
    return print(host, { document: JSON.parse(JSON.stringify(document)), options });
  });
}

async function printServed(host: Host, options: TypesOptions): Promise<number> {
  const token = (options.token ?? host.environment[TOKEN_VARIABLE] ?? "").trim();
  const url = options.url ?? DEFAULT_URL;
  if (token === "") {
    throw stop(
      WRONG_USAGE,
      `rowgate: no token; set ${TOKEN_VARIABLE}, or name a tenant (--tenant) to ask the database`,
    );
  }
  return print(host, { document: await fetchDocument(url, token), options });
}

function print(
  host: Host,
  { document, options }: { readonly document: unknown; readonly options: TypesOptions },
): number {
  try {
    host.stdout.write(printTables(readTypedTables(document), options));
    return 0;
  } catch (error) {
    throw stop(FAILED, `rowgate: what was answered can not be read: ${(error as Error).message}`);
  }
}

const TIMEOUT_MS = 60_000;

/**
 * Asks a server for the OpenAPI document of a token.
 * @throws {Stop} when the address is none, nobody answers there, or the token is refused
 */
export async function fetchDocument(url: string, token: string): Promise<unknown> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw stop(
      WRONG_USAGE,
      `rowgate: --url: ${JSON.stringify(url)} is not an address, expected http://… or https://…`,
    );
  }
  const address = `${url.replace(/\/+$/, "")}/openapi.json`;
  const response = await ask(address, token);
  if (response.status === 401) throw stop(FAILED, `rowgate: ${address} refuses the token`);
  if (!response.ok) throw stop(FAILED, `rowgate: ${address} answers ${response.status}`);
  try {
    return await response.json();
  } catch {
    throw stop(FAILED, `rowgate: ${address} does not answer with JSON`);
  }
}

/** A redirect is no answer: the token goes where it was meant to go. */
async function ask(address: string, token: string): Promise<Response> {
  try {
    return await fetch(address, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    // A token that can not stand in a header ends here too, and must not be shown.
    throw stop(
      FAILED,
      `rowgate: ${address} can not be asked; look whether it runs, and at the token`,
    );
  }
}
