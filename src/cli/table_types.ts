import { type Command, Option } from "commander";
import { TOKEN_VARIABLE } from "../server/config/settings.ts";
import { describeService } from "../describe/interface/openapi/document.ts";
import { printTables } from "../describe/interface/typescript/print_tables.ts";
import { readTypedTables } from "../describe/interface/typescript/read_tables.ts";
import type { Host } from "../server/runtime/host.ts";
import { readHolder } from "./openapi.ts";
import { DEFAULT_URL, readAddress, readToken, stopUnanswered } from "./server_access.ts";
import { FAILED, stop } from "./stop.ts";
import type { RunWork } from "./subcommand.ts";
import { withDatabase } from "./with_database.ts";

const TIMEOUT_MS = 60_000;

const EXAMPLES = `
The types are printed as a TypeScript module for "rowgate/client". Other users of the machine can
read a token on the command line; pass it in ${TOKEN_VARIABLE} instead.

Examples:
  ${TOKEN_VARIABLE}=rg_… rowgate types --url https://rows.example.com > tables.ts
  DATABASE_URL=postgres://… rowgate types --tenant acme > tables.ts`;

interface TypesOptions {
  readonly url?: string;
  readonly token?: string;
  readonly tenant?: string;
  readonly wideNumbers?: boolean;
}

/** Adds `rowgate types [--url U] [--token T] | --tenant T`. */
export function addTypes(root: Command, run: RunWork): void {
  root.command("types")
    .description("Print the tables that a token reaches as TypeScript types")
    .option("--url <url>", `Address of a running server (default: ${DEFAULT_URL})`)
    .option("--token <token>", `Token (default: ${TOKEN_VARIABLE})`)
    .addOption(
      new Option("--tenant <tenant>", "Read the database instead, as this tenant's tokens see it")
        .conflicts(["url", "token"]),
    )
    .option("--wide-numbers", "Type 64-bit integers and numeric as strings")
    .addHelpText("after", EXAMPLES)
    .action((options: TypesOptions) => run((host) => printTypes(host, options)));
}

function printTypes(host: Host, options: TypesOptions): Promise<number> {
  const { tenant } = options;
  if (tenant === undefined) return printFromServer(host, options);
  return withDatabase(host, async (opened) => {
    const document = describeService(await readHolder(opened, tenant));
    return print(host, JSON.parse(JSON.stringify(document)), options);
  });
}

async function printFromServer(host: Host, options: TypesOptions): Promise<number> {
  const token = readToken(host, options.token, ", or use --tenant to read the database");
  return print(host, await fetchDocument(options.url ?? DEFAULT_URL, token), options);
}

function print(host: Host, document: unknown, { wideNumbers = false }: TypesOptions): number {
  try {
    host.stdout.write(printTables(readTypedTables(document), { wideNumbers }));
    return 0;
  } catch (error) {
    throw stop(FAILED, `rowgate: the document cannot be read: ${(error as Error).message}`);
  }
}

/**
 * Requests the OpenAPI document of a token.
 * @throws {Stop} when the address is invalid, does not answer or rejects the token
 */
async function fetchDocument(url: string, token: string): Promise<unknown> {
  const address = `${readAddress(url)}/openapi.json`;
  const response = await request(address, token);
  if (response.status === 401) throw stop(FAILED, `rowgate: ${address} rejects the token`);
  if (!response.ok) throw stop(FAILED, `rowgate: ${address} answers ${response.status}`);
  try {
    return await response.json();
  } catch {
    throw stop(FAILED, `rowgate: ${address} does not answer with JSON`);
  }
}

/** Redirects are not followed: the token is sent to the given address only. */
async function request(address: string, token: string): Promise<Response> {
  try {
    return await fetch(address, {
      headers: { authorization: `Bearer ${token}` },
      redirect: "manual",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
  } catch {
    throw stopUnanswered(address);
  }
}
