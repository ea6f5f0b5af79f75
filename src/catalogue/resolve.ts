import { ApiError } from "../basics/errors/api_error.ts";
import { quote } from "../basics/errors/issue.ts";
import { NAME_PATTERN } from "../basics/errors/limits.ts";
import type { TableScope } from "../access/scopes.ts";
import type { Access } from "../access/tokens/token.ts";
import type { Catalogue, Table } from "./catalogue.ts";
import { tenantFitsColumns } from "./tenant_column.ts";

/** The access of a token, and the requested operation; Get Fields needs no scope. @see A11 */
export interface ResolveOptions {
  readonly access: Access;
  readonly operation: TableScope | "fields";
  /** What the operation does besides. */
  readonly also?: TableScope | undefined;
}

/**
 * Returns the table of a name for the holder of a token: steps 3 to 6 of the order of checks. The 404
 * has the same text if a table is missing, is not exposed, has a tenant column that cannot hold the
 * token's tenant, or is not one of the token's tables, so that the client does not learn which.
 * @throws {ApiError} 400 if the name is not valid; 403 for a credential table, an operation that the
 * token does not grant, or that the table does not allow; 404 if there is no table (`stale`)
 * @see docs/specification/order-of-checks.md
 */
export function resolveTable(
  catalogue: Catalogue,
  name: string,
  { access, operation, also }: ResolveOptions,
): Table {
  requireName(name);
  rejectCredentialTable(catalogue, name);
  const table = requireTable(catalogue, name, access);
  const needed = also === undefined ? [operation] : [operation, also];
  for (const each of needed) requireScope(access, each);
  const refusal = needed.map((each) => describeImpossible(table, each)).find(Boolean);
  if (refusal !== undefined) {
    throw new ApiError(403, `table: ${quote(name)} ${refusal} through the integration API`);
  }
  return table;
}

/** Describes why an operation cannot be used on a table; undefined if it can. */
function describeImpossible(
  { writable, creatable, deletable }: Table,
  operation: ResolveOptions["operation"],
): string | undefined {
  if (operation === "update" && !writable) return "is not writable";
  if (operation === "create" && !creatable) return "takes no new records";
  return operation === "delete" && !deletable ? "has no records that can be deleted" : undefined;
}

/** Reports whether the holder of a token may see a table, as Get Tables lists them. @see O8, O9 */
export function isOpenTo(table: Table, access: Access): boolean {
  if (access.tables !== null && !access.tables.includes(table.name)) return false;
  return table.tenancy === undefined || tenantFitsColumns(access.tenant, table.tenancy.columns);
}

function requireName(name: string): void {
  if (NAME_PATTERN.test(name)) return;
  const expected = "expected letters, digits and underscores";
  throw new ApiError(400, `table: ${quote(name)} is not a table name, ${expected}`);
}

function rejectCredentialTable(catalogue: Catalogue, name: string): void {
  if (!catalogue.credentialTables.has(name.toLowerCase())) return;
  throw new ApiError(403, `table: ${quote(name)} is not readable through the integration API`);
}

function requireTable(catalogue: Catalogue, name: string, access: Access): Table {
  const table = catalogue.tables.get(name);
  if (table !== undefined && isOpenTo(table, access)) return table;
  throw new ApiError(404, `table: ${quote(name)} was not found`, { stale: true });
}

function requireScope(access: Access, operation: ResolveOptions["operation"]): void {
  if (operation === "fields" || access.scopes.includes(operation)) return;
  throw new ApiError(403, `The token does not grant the operation ${quote(operation)}`);
}
