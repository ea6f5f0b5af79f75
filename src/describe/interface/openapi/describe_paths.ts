import type { Table } from "../../../catalogue/catalogue.ts";
import { type DescribedOperation, listScopes } from "../../../operations/operation.ts";
import { OPERATIONS } from "../../../operations/operations.ts";
import type { JsonSchema } from "../../../operations/schemas/json_schema.ts";
import type { ParameterName } from "../../../operations/schemas/parameters.ts";
import type { Brevity } from "./brevity.ts";
import { describeOperation } from "./describe_operation.ts";
import type { Holder } from "./holder.ts";

/** The holder that a document is for, and how much it describes. */
interface Extent {
  /** Undefined: the document is for all clients. */
  readonly holder: Holder | undefined;
  readonly brevity: Brevity;
}

/** Reports whether an operation has one path in a document, not one for each table. */
export function isShared(operation: DescribedOperation, { holder, brevity }: Extent): boolean {
  if (holder === undefined || !isOnTables(operation)) return true;
  const { sharedFrom } = operation;
  return brevity !== "full" && (sharedFrom === "brief" || sharedFrom === brevity);
}

/** Describes an operation at its paths; none if the token does not allow it. @see H21 */
export function describePaths(operation: DescribedOperation, extent: Extent): [
  string,
  JsonSchema,
][] {
  const { holder, brevity } = extent;
  const path = printUrlPath(operation.path);
  const method = operation.method.toLowerCase();
  if (!isAllowed(operation, holder)) return [];
  const tables = holder?.tables.filter((table) => isPossible(operation, table)) ?? [];
  if (!isShared(operation, extent)) {
    return tables.map((table) => [
      path.replace("{table}", table.name),
      { [method]: describeOperation(operation, { table, brevity }) },
    ]);
  }
  if (holder !== undefined && isOnTables(operation) && tables.length === 0) return [];
  return [[path, { [method]: describeOperation(operation, nameChoice(operation, holder)) }]];
}

/** Writes the parameters of a path as OpenAPI does: `{table}`. */
export function printUrlPath(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}

/** Reports whether the token of a holder allows an operation, on whatever table. */
export function isAllowed(operation: DescribedOperation, holder: Holder | undefined): boolean {
  return holder === undefined ||
    listScopes(operation).every((scope) => holder.access.scopes.includes(scope));
}

/** Lists the tables that each parameter can name, for parameters that cannot name every table. */
export function listPathChoices(
  { tables }: Holder,
): Readonly<Partial<Record<ParameterName, readonly string[]>>> {
  const choices: Partial<Record<ParameterName, readonly string[]>> = {};
  for (const { tables: possible } of OPERATIONS) {
    if (possible === undefined) continue;
    choices[possible.parameter] = tables.filter(possible.isPossible).map(({ name }) => name);
  }
  return choices;
}

/** Names the parameter of a path with a table. */
export function nameChoice(
  { tables }: DescribedOperation,
  holder: Holder | undefined,
): ParameterName {
  return holder === undefined || tables === undefined ? "Table" : tables.parameter;
}

/** Reports whether the path of an operation names a table. */
export function isOnTables({ path }: DescribedOperation): boolean {
  return path.includes(":table");
}

function isPossible({ tables }: DescribedOperation, table: Table): boolean {
  return tables === undefined || tables.isPossible(table);
}
