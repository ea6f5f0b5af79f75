import { NAME_PATTERN } from "../errors/limits.ts";
import { buildTable } from "./build_table.ts";
import type { Catalogue, Column, Table } from "./catalogue.ts";
import type { Introspection, IntrospectOptions } from "./introspect.ts";
import { nameTimeZone } from "./time_zone.ts";

/**
 * Tables that hold credentials, by default; in lower case, as they are compared. Other services call
 * a table like `rowgate.tokens` `api_tokens`.
 * @see T28, AU15
 */
export const DEFAULT_CREDENTIAL_TABLES: readonly string[] = [
  "user_passwords",
  "passwords",
  "password_resets",
  "password_reset_codes",
  "password_reset_tokens",
  "sessions",
  "user_sessions",
  "session_records",
  "impersonations",
  "impersonation_records",
  "user_impersonations",
  "api_tokens",
];

/** A catalogue, and what in the policy does not match the database. */
export interface BuiltCatalogue {
  readonly catalogue: Catalogue;
  readonly warnings: readonly string[];
}

/**
 * Builds the catalogue that clients see from what Postgres reports, by the rules of exposure and the
 * policy.
 * @see docs/specification/tables-and-fields.md
 */
export async function buildCatalogue(
  found: Introspection,
  options: IntrospectOptions,
): Promise<BuiltCatalogue> {
  const { policy, schema } = options;
  const warnings: string[] = [];
  if (!found.usable) warnings.push(`schema "${schema}" is not there, or the role may not use it`);
  const credentialTables = new Set(DEFAULT_CREDENTIAL_TABLES);
  for (const name of policy.credentialTables) credentialTables.add(name.toLowerCase());
  const timeZone = nameTimeZone(options.timeZone ?? found.timeZone);
  const all = new Map(found.tables.map((table) => [table.name, table]));
  const context = { options, types: found.types, timeZone, tables: all, warnings };
  const tables = new Map<string, Table>();
  for (const candidate of found.tables) {
    const { name: stored } = candidate;
    const name = policy.tables.get(stored)?.name ?? stored;
    if (credentialTables.has(stored.toLowerCase())) continue;
    if (!NAME_PATTERN.test(name) || credentialTables.has(name.toLowerCase())) continue;
    const table = buildTable(candidate, context);
    if (table === undefined) continue;
    if (name !== stored && all.has(name) || tables.has(name)) {
      warnings.push(
        `policy: tables.${stored}.name: another table is called "${name}", not exposed`,
      );
    } else tables.set(name, table);
  }
  const present = new Set(found.tables.map((table) => table.name));
  for (const name of policy.tables.keys()) {
    if (credentialTables.has(name.toLowerCase())) {
      warnings.push(`policy: tables.${name} is a credential table and stays closed`);
    } else if (!present.has(name)) {
      warnings.push(`policy: tables.${name} is not in schema "${schema}"`);
    }
  }
  const credentials = new Set(found.credentialTables.map((name) => name.toLowerCase()));
  for (const name of policy.credentialTables) {
    if (credentials.has(name.toLowerCase())) continue;
    warnings.push(`policy: credential table "${name}" is not in schema "${schema}"`);
  }
  const version = await digest([...tables.values()].map(describeForClients));
  return { catalogue: { tables, credentialTables, version }, warnings };
}

function describeForClients(table: Table): unknown {
  const { name, comment, writable, primaryKey, feed } = table;
  const columns = [...table.columns.values()].map(describeColumn);
  const key = primaryKey.map((column) => column.name);
  return [name, comment, writable, feed !== undefined, key, columns];
}

function describeColumn(column: Column): unknown {
  const { name, type, kind, nullable, primaryKey, readOnly, labels, comment } = column;
  const { equality, order, maxLength, timeZone } = column;
  const flags = [nullable, primaryKey, readOnly, equality, order, maxLength, timeZone];
  return [name, type, kind, ...flags, labels, comment];
}

async function digest(visible: unknown): Promise<string> {
  const bytes = new TextEncoder().encode(JSON.stringify(visible));
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return [...hash.subarray(0, 12)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
