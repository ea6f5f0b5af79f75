import { NAME_PATTERN } from "../basics/errors/limits.ts";
import { sha256OfLong } from "../basics/text/sha256.ts";
import { buildTable } from "./build_table.ts";
import type { Catalogue, Column, Table } from "./catalogue.ts";
import type { IntrospectOptions } from "./introspect.ts";
import type { Introspection } from "./introspection.ts";
import { callTable, type NamedTable, nameTables } from "./table_names.ts";
import { nameTimeZone } from "./time_zone.ts";

/**
 * Default names of tables with credentials, in lower case, as they are compared. `api_tokens` is
 * there because other services name a table like `rowgate.tokens` so.
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

/** A catalogue, and the problems found while it was built. */
export interface BuiltCatalogue {
  readonly catalogue: Catalogue;
  readonly warnings: readonly string[];
  /**
   * Problems with which no server starts. Tables with the same name are left out of the catalogue.
   * @see T75
   */
  readonly conflicts: readonly string[];
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
  const { policy, schemas } = options;
  const warnings: string[] = [];
  for (const schema of schemas.filter((name) => !found.usable.includes(name))) {
    warnings.push(`schema "${schema}" is not there, or the role may not use it`);
  }
  const credentialTables = listCredentialTables(options);
  const isCredential = (name: string) => credentialTables.has(name.toLowerCase());
  const isOpen = ({ name, called, policy: own }: NamedTable) =>
    ![name, called, own?.name ?? called].some(isCredential) &&
    NAME_PATTERN.test(own?.name ?? called);
  const timeZone = nameTimeZone(options.timeZone ?? found.timeZone);
  const { tables: named, byName, conflicts: ambiguous } = nameTables(found.tables, options);
  const conflicts = [...ambiguous];
  const byIdentifier = new Map([...named.values()].map((table) => [table.identifier, table]));
  const blind = new Map<string, string>();
  const own = { options, types: found.types, timeZone, warnings, blind };
  const context = { ...own, tables: byName, byIdentifier };
  const tables = new Map<string, Table>();
  const taken = new Map<string, Table>();
  for (const candidate of [...named.values()].filter(isOpen)) {
    const table = buildTable(candidate, context);
    if (table === undefined) continue;
    const { name } = table;
    const other = taken.get(name);
    if (other === undefined) {
      taken.set(name, table);
      tables.set(name, table);
    } else {
      conflicts.push(describeConflict(table, other));
      tables.delete(name);
    }
  }
  const where = describeSchemas(schemas);
  for (const key of policy.tables.keys()) {
    const table = byName.get(key);
    if ([key, table?.name ?? key].some(isCredential)) {
      warnings.push(`policy: tables.${key} is a credential table and stays closed`);
    } else if (table === undefined) warnings.push(`policy: tables.${key} is not in ${where}`);
  }
  for (const name of policy.credentialTables) {
    if (found.credentialTables.includes(name.toLowerCase())) continue;
    warnings.push(`policy: credential table "${name}" is not in ${where}`);
  }
  const version = await digest([...tables.values()].map(describeForClients));
  return { catalogue: { tables, credentialTables, blind, version }, warnings, conflicts };
}

/**
 * Lists the names of credential tables, which close the tables of that name in every schema.
 * @see T76
 */
function listCredentialTables({ policy, schemas }: IntrospectOptions): ReadonlySet<string> {
  const names = [...DEFAULT_CREDENTIAL_TABLES, ...policy.credentialTables];
  return new Set(
    names.flatMap((name) => schemas.map((schema) => callTable({ schema, name }, schemas)))
      .concat(names).map((name) => name.toLowerCase()),
  );
}

function describeConflict({ name, identifier, stored }: Table, other: Table): string {
  return `two tables are called "${name}": ${other.identifier} and ${identifier}; ` +
    `give one of them another name in the policy: ${
      JSON.stringify({ tables: { [stored.policyKey]: { name: `${name}_2` } } })
    }`;
}

/** Prints names of schemas: `schema "public"`. */
function describeSchemas(schemas: readonly string[]): string {
  const names = schemas.map((name) => `"${name}"`).join(", ");
  return schemas.length === 1 ? `schema ${names}` : `the schemas ${names}`;
}

function describeForClients(table: Table): unknown {
  const { name, comment, writable, creatable, deletable, primaryKey, feed } = table;
  const columns = [...table.columns.values()].map(describeColumn);
  const key = primaryKey.map((column) => column.name);
  const able = [writable, creatable, deletable, feed !== undefined];
  return [name, comment, able, key, columns];
}

function describeColumn(column: Column): unknown {
  const { name, type, baseType, kind, nullable, primaryKey, readOnly, labels, comment } = column;
  const { equality, order, maxLength, timeZone } = column;
  const { unset, required } = column;
  const flags = [
    nullable,
    primaryKey,
    readOnly,
    unset,
    required,
    equality,
    order,
    maxLength,
    timeZone,
  ];
  return [name, type, baseType, kind, ...flags, labels, comment];
}

async function digest(visible: unknown): Promise<string> {
  return (await sha256OfLong(JSON.stringify(visible))).slice(0, 24);
}
