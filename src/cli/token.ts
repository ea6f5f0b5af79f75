import { type Command, InvalidArgumentError, Option } from "commander";
import { NAME_PATTERN } from "../errors/limits.ts";
import { type Expiry, parseDuration, parseExpiry } from "../tokens/expiry.ts";
import type { TokenScope } from "../tokens/token.ts";
import { parseId, parseText, printColumns, type Run } from "./subcommand.ts";
import type { Host } from "../runtime/host.ts";
import {
  type CreatedToken,
  createToken,
  listTokens,
  revokeToken,
  rotateToken,
} from "../tokens/manage.ts";
import type { TokenRecord } from "../tokens/token_record.ts";
import { prepareDatabase } from "./prepare_schema.ts";
import { FAILED, stop } from "./stop.ts";
import { withCatalogue, withDatabase, type Workplace } from "./with_database.ts";
import { tenantFits } from "../catalogue/tenant_column.ts";

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

/** Makes a token; standard output holds nothing but it. @see A14 */
export function createAndPrint(host: Host, options: CreateOptions): Promise<number> {
  return withDatabase(host, async (workplace) => {
    const { database } = workplace;
    await prepareDatabase(database, host.stderr);
    const created = await createToken(database, {
      tenant: options.tenant,
      name: options.name ?? null,
      scopes: options.scope,
      tables: options.tables ?? null,
      expiry: options.expires,
    });
    if (created === undefined) {
      throw stop(FAILED, "rowgate: --expires lies in the past, no token was made");
    }
    const warning = await warnOfTenant(workplace, options.tenant);
    if (warning !== undefined) host.stderr.write(`Warning: ${warning}\n`);
    print(host, created);
    return 0;
  });
}

/** Lists tokens for a person, or as one JSON array. */
export function listAndPrint(
  host: Host,
  { tenant, json }: { readonly tenant?: string; readonly json?: boolean },
): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareDatabase(database, host.stderr);
    const records = await listTokens(database, { tenant });
    if (json) host.stdout.write(`${JSON.stringify(records.map(printRecord), null, 2)}\n`);
    else if (records.length === 0) host.stderr.write("There are no tokens.\n");
    else host.stdout.write(printColumns([HEAD, ...records.map(describe)]));
    return 0;
  });
}

/** Revokes a token, and tells what is known of it. */
export function revokeAndTell(host: Host, id: string): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareDatabase(database, host.stderr);
    const record = await revokeToken(database, id);
    if (record === undefined) throw stop(FAILED, `rowgate: there is no token ${id}`);
    host.stderr.write(`Token ${id} of tenant ${record.tenant} is revoked.\n`);
    return 0;
  });
}

/** Makes a token in the place of another; standard output holds nothing but it. */
export function rotateAndPrint(
  host: Host,
  options: { readonly id: string; readonly overlapSeconds: number },
): Promise<number> {
  return withDatabase(host, async ({ database }) => {
    await prepareDatabase(database, host.stderr);
    const created = await rotateToken(database, options);
    if (created === undefined) {
      throw stop(
        FAILED,
        `rowgate: there is no token ${options.id} to rotate, or it ended or was rotated already`,
      );
    }
    print(host, created);
    return 0;
  });
}

const HEAD = ["ID", "TENANT", "NAME", "SCOPES", "TABLES", "EXPIRES", "STATE"];

function print(host: Host, { token, record }: CreatedToken): void {
  const end = record.expiresAt === null ? "does not expire" : `ends ${printDate(record.expiresAt)}`;
  host.stderr.write(`Token ${record.id} for tenant ${record.tenant}, ${end}. Shown this once:\n`);
  host.stdout.write(`${token}\n`);
}

function describe(record: TokenRecord): readonly string[] {
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

function printRecord(record: TokenRecord) {
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

/**
 * Gives a warning when no exposed table can hold the tenant at all: the token of a customer's name where
 * tenants are numbers would see nothing. A tenant without rows yet is none of our business.
 */
export async function warnOfTenant(
  workplace: Workplace,
  tenant: string,
): Promise<string | undefined> {
  try {
    const quiet = { ...workplace, observe: () => {} };
    const catalogue = await withCatalogue(quiet, async (following) => await following.current());
    const kinds = [...catalogue.tables.values()].flatMap(({ tenant }) => tenant?.kind ?? []);
    if (kinds.length === 0 || kinds.some((kind) => tenantFits(tenant, kind))) return undefined;
    const expected = [...new Set(kinds)].sort().join(" or ");
    return `no table can hold the tenant ${
      JSON.stringify(tenant)
    }, tenants are of type ${expected} here`;
  } catch {
    // The token is made; what is wrong with the tables, "rowgate tables" tells.
    return undefined;
  }
}
