import { type Command, InvalidArgumentError, Option } from "commander";
import { NAME_PATTERN } from "../errors/limits.ts";
import { type Expiry, parseDuration, parseExpiry } from "../tokens/expiry.ts";
import type { TokenScope } from "../tokens/token.ts";
import { createAndPrint, listAndPrint, revokeAndTell, rotateAndPrint } from "./token_work.ts";
import { parseId, parseText } from "./parse_argument.ts";
import type { Run } from "./run.ts";

const CREATE_EXAMPLE = `
The token goes to standard output, alone, and is shown this once.

Examples:
  rowgate token create --tenant acme --name "ERP import"
  rowgate token create --tenant acme --scope query --tables orders,customers --expires 90d`;
const LIST_EXAMPLE = `
Examples:
  rowgate token list
  rowgate token list --tenant acme --json`;
const REVOKE_EXAMPLE = `
Every running server refuses the token within 5 seconds.

Example:
  rowgate token revoke 0aB3dE6gH9j`;
const ROTATE_EXAMPLE = `
The new token has the tenant, scopes, tables and lifetime of the old one and goes to standard
output, alone; the old one ends after the overlap.

Example:
  rowgate token rotate 0aB3dE6gH9j --overlap 24h`;

/** What `token create` is given. */
export interface CreateOptions {
  readonly tenant: string;
  readonly name?: string;
  readonly scope: readonly TokenScope[];
  readonly tables?: readonly string[];
  readonly expires: Expiry;
}

/** Adds `rowgate token create|list|revoke|rotate`. @see A14, A18, A19, A20 */
export function addToken(root: Command, run: Run): void {
  const token = root.command("token").helpCommand(false)
    .description("make, list, revoke and rotate the API tokens of tenants")
    .addHelpText("after", "\nExample:\n  rowgate token create --tenant acme");

  token.command("create")
    .description("make a token for a tenant and print it")
    .addOption(
      new Option("--tenant <tenant>", "value of the tenant column")
        .argParser(parseText).makeOptionMandatory(),
    )
    .option("--name <name>", "what it is for", parseText)
    .addOption(
      new Option("--scope <scopes>", "query, update or both")
        .argParser(parseScopes).default(["query", "update"], "query,update"),
    )
    .option("--tables <tables>", "the only tables it is for, separated by commas", parseTables)
    .addOption(
      new Option("--expires <when>", "90d, 12h, a date in UTC such as 2027-01-31, or never")
        .argParser(parseEnd).default({ kind: "after", seconds: 365 * 86_400 }, "365d"),
    )
    .addHelpText("after", CREATE_EXAMPLE)
    .action((options: CreateOptions) => run((host) => createAndPrint(host, options)));

  token.command("list")
    .description("list the tokens; the secrets are kept nowhere")
    .option("--tenant <tenant>", "those of one tenant", parseText)
    .option("--json", "print JSON, for programs")
    .addHelpText("after", LIST_EXAMPLE)
    .action((options: { readonly tenant?: string; readonly json?: boolean }) =>
      run((host) => listAndPrint(host, options))
    );

  token.command("revoke")
    .description("end a token now, for good")
    .argument("<id>", "its id, as `token list` shows it", parseId)
    .addHelpText("after", REVOKE_EXAMPLE)
    .action((id: string) => run((host) => revokeAndTell(host, id)));

  token.command("rotate")
    .description("make a token that takes the place of another")
    .argument("<id>", "id of the old token, as `token list` shows it", parseId)
    .addOption(
      new Option("--overlap <time>", "how long the old one stays good: 24h, 30m, 0")
        .argParser(parseOverlap).default(86_400, "24h"),
    )
    .addHelpText("after", ROTATE_EXAMPLE)
    .action((id: string, { overlap }: { readonly overlap: number }) =>
      run((host) => rotateAndPrint(host, { id, overlapSeconds: overlap }))
    );
}

function parseScopes(text: string): readonly TokenScope[] {
  const scopes = new Set<TokenScope>();
  for (const item of text.split(",").map((scope) => scope.trim())) {
    if (item !== "query" && item !== "update") {
      throw new InvalidArgumentError("Expected query, update or query,update.");
    }
    scopes.add(item);
  }
  return [...scopes];
}

function parseTables(text: string): readonly string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.every((name) => NAME_PATTERN.test(name))) return [...new Set(names)];
  throw new InvalidArgumentError("Expected names of letters, digits and underscores.");
}

function parseEnd(text: string): Expiry {
  const expiry = parseExpiry(text);
  if (expiry !== undefined) return expiry;
  throw new InvalidArgumentError("Expected 90d, 12h, a date such as 2027-01-31, or never.");
}

function parseOverlap(text: string): number {
  const seconds = parseDuration(text);
  if (seconds !== undefined) return seconds;
  throw new InvalidArgumentError("Expected a time such as 24h, 30m or 0.");
}
