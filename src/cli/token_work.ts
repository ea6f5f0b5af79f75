import type { Host } from "../runtime/host.ts";
import { createToken, listTokens, revokeToken, rotateToken } from "../tokens/manage.ts";
import type { CreatedToken } from "../tokens/manage.ts";
import type { TokenRecord } from "../tokens/token_record.ts";
import { printColumns } from "./columns.ts";
import { prepareDatabase } from "./prepare_database.ts";
import { FAILED, stop } from "./stop.ts";
import type { CreateOptions } from "./token.ts";
import { warnOfTenant } from "./warn_of_tenant.ts";
import { withDatabase } from "./with_database.ts";

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
