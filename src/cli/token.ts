import { type Command, InvalidArgumentError, Option } from "commander";
import { NAME_PATTERN } from "../basics/errors/limits.ts";
import type { Host } from "../server/runtime/host.ts";
import { type Expiry, parseDuration, parseExpiry } from "../access/tokens/parse_expiry.ts";
import {
  type CreatedToken,
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
} from "../access/tokens/manage.ts";
import { DEFAULT_SCOPES, isScope, SCOPES, type TokenScope } from "../access/scopes.ts";
import type { TokenRecord } from "../access/tokens/token_record.ts";
import { checkNewToken } from "./check_token.ts";
import { prepareSchema } from "./prepare_schema.ts";
import { FAILED, stop } from "./stop.ts";
import { parseId, parseText, printColumns, type RunWork } from "./subcommand.ts";
import { withDatabase } from "./with_database.ts";

const CREATE_EXAMPLES = `
Standard output is the token and nothing else. It is shown only this once.

Examples:
  rowgate token create --tenant acme --name "ERP import"
  rowgate token create --tenant acme --scope query --tables orders,customers --expires 90d
  rowgate token create --tenant acme --scope query,update,create,delete --name "Shop sync"
  rowgate token create --tenant acme --scope query,webhooks --name "Zapier"`;
const LIST_EXAMPLES = `
Examples:
  rowgate token list
  rowgate token list --tenant acme --json`;
const REVOKE_EXAMPLES = `
Within 5 seconds every running server rejects the token.

Example:
  rowgate token revoke 0aB3dE6gH9j`;
const ROTATE_EXAMPLES = `
The new token has the tenant, scopes, tables and lifetime of the old one. Standard output is the new
token and nothing else. The old one expires after the overlap.

Example:
  rowgate token rotate 0aB3dE6gH9j --overlap 24h`;

interface CreateOptions {
  readonly tenant: string;
  readonly name?: string;
  readonly scope: readonly TokenScope[];
  readonly tables?: readonly string[];
  readonly expires: Expiry;
}

interface ListOptions {
  readonly tenant?: string;
  readonly json?: boolean;
}

/** Adds `rowgate token create|list|revoke|rotate`. @see A14, A18, A19, A20 */
export function addToken(root: Command, run: RunWork): void {
  const token = root.command("token").helpCommand(false)
    .description("Create, list, revoke and rotate API tokens")
    .addHelpText("after", "\nExample:\n  rowgate token create --tenant acme");

  token.command("create")
    .description("Create a token for a tenant and print it")
    .addOption(
      new Option("--tenant <tenant>", "Value of the tenant column, or of several: 7/2")
        .argParser(parseText).makeOptionMandatory(),
    )
    .option("--name <name>", "What the token is for", parseText)
    .addOption(
      new Option("--scope <scopes>", `What it may do: ${SCOPES.join(", ")}, separated by commas`)
        .argParser(parseScopes).default(DEFAULT_SCOPES, DEFAULT_SCOPES.join()),
    )
    .option("--tables <tables>", "Only these tables, separated by commas", parseTables)
    .addOption(
      new Option("--expires <when>", "90d, 12h, a date in UTC such as 2027-01-31, or never")
        .argParser(parseEnd).default({ kind: "after", seconds: 365 * 86_400 }, "365d"),
    )
    .addHelpText("after", CREATE_EXAMPLES)
    .action((options: CreateOptions) => run((host) => create(host, options)));

  token.command("list")
    .description("List the tokens, without their secrets, which are not stored")
    .option("--tenant <tenant>", "Only those of this tenant", parseText)
    .option("--json", "Print JSON")
    .addHelpText("after", LIST_EXAMPLES)
    .action((options: ListOptions) => run((host) => list(host, options)));

  token.command("revoke")
    .description("Revoke a token at once and for good")
    .argument("<id>", "Id of the token, from `token list`", parseId)
    .addHelpText("after", REVOKE_EXAMPLES)
    .action((id: string) => run((host) => revoke(host, id)));

  token.command("rotate")
    .description("Create a token that replaces another")
    .argument("<id>", "Id of the old token, from `token list`", parseId)
    .addOption(
      new Option("--overlap <time>", "How long the old token stays valid: 24h, 30m, 0")
        .argParser(parseOverlap).default(86_400, "24h"),
    )
    .addHelpText("after", ROTATE_EXAMPLES)
    .action((id: string, { overlap }: { readonly overlap: number }) =>
      run((host) => rotate(host, { id, overlapSeconds: overlap }))
    );
}

function create(host: Host, options: CreateOptions): Promise<number> {
  return withDatabase(host, async (opened) => {
    const { database } = opened;
    await prepareSchema(database, host.stderr);
    const { problem, warning } = await checkNewToken(opened, options);
    if (problem !== undefined) throw stop(FAILED, `rowgate: ${problem}; no token was created`);
    const created = await createToken(database, {
      tenant: options.tenant,
      name: options.name ?? null,
      scopes: options.scope,
      tables: options.tables ?? null,
      expiry: options.expires,
    });
    if (created === undefined) {
      throw stop(FAILED, "rowgate: --expires is in the past; no token was created");
    }
    if (warning !== undefined) host.stderr.write(`Warning: ${warning}\n`);
    print(host, created);
    return 0;
  });
}

function list(host: Host, { tenant, json }: ListOptions): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareSchema(database, host.stderr);
    const records = await listTokens(database, { tenant });
    if (json) host.stdout.write(`${JSON.stringify(records.map(toJson), null, 2)}\n`);
    else if (records.length === 0) host.stderr.write("There are no tokens.\n");
    else host.stdout.write(printColumns([HEAD, ...records.map(toColumns)]));
    return 0;
  });
}

function revoke(host: Host, id: string): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareSchema(database, host.stderr);
    const record = await revokeToken(database, id);
    if (record === undefined) throw stop(FAILED, `rowgate: there is no token ${id}`);
    host.stderr.write(`Token ${id} of tenant ${record.tenant} is revoked.\n`);
    return 0;
  });
}

function rotate(
  host: Host,
  options: { readonly id: string; readonly overlapSeconds: number },
): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareSchema(database, host.stderr);
    const created = await rotateToken(database, options);
    if (created === undefined) {
      throw stop(
        FAILED,
        `rowgate: token ${options.id} cannot be rotated: it does not exist, has expired, or was ` +
          "revoked or rotated already",
      );
    }
    print(host, created);
    return 0;
  });
}

const HEAD = ["ID", "TENANT", "NAME", "SCOPES", "TABLES", "EXPIRES", "STATE"];

function print(host: Host, { token, record }: CreatedToken): void {
  const end = record.expiresAt === null
    ? "does not expire"
    : `expires ${printDate(record.expiresAt)}`;
  host.stderr.write(
    `Token ${record.id} for tenant ${record.tenant}, ${end}. It is shown only this once:\n`,
  );
  host.stdout.write(`${token}\n`);
}

function toColumns(record: TokenRecord): readonly string[] {
  return [
    record.id,
    record.tenant,
    record.name ?? "",
    record.scopes.join(","),
    record.tables?.join(",") ?? "all",
    record.expiresAt === null ? "never" : printDate(record.expiresAt),
    stateOf(record),
  ];
}

function toJson(record: TokenRecord) {
  return {
    id: record.id,
    name: record.name,
    tenant: record.tenant,
    scopes: record.scopes,
    tables: record.tables,
    created_at: record.createdAt,
    expires_at: record.expiresAt,
    revoked_at: record.revokedAt,
    replaces: record.replaces,
    state: stateOf(record),
  };
}

function stateOf({ revokedAt, remainingMs }: TokenRecord): "active" | "expired" | "revoked" {
  if (revokedAt !== null) return "revoked";
  return remainingMs === 0 ? "expired" : "active";
}

function printDate(date: Date): string {
  return `${date.toISOString().slice(0, 16)}Z`;
}

function parseScopes(text: string): readonly TokenScope[] {
  const scopes = new Set<TokenScope>();
  for (const item of text.split(",").map((scope) => scope.trim())) {
    if (!isScope(item)) throw new InvalidArgumentError(`Expected some of ${SCOPES}.`);
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
