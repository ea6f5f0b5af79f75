import type { Table } from "../../catalogue/catalogue.ts";
import type { Access } from "../../tokens/token.ts";
import type { Brevity } from "./brevity.ts";
import { describeOperation } from "./describe_operation.ts";
import type { Holder } from "./holder.ts";
import type { JsonSchema } from "./json_schema.ts";
import type { DescribedOperation } from "./described_operation.ts";
import type { ParameterName } from "./parameters.ts";

/** The holder that a document is for, and how much it describes. */
interface Extent {
  /** Undefined: the document is for all clients. */
  readonly holder: Holder | undefined;
  readonly brevity: Brevity;
}

/** The operations that are described once for all tables, by brevity. */
const SHARED: Readonly<Record<Brevity, readonly DescribedOperation["id"][]>> = {
  full: [],
  brief: ["getFields"],
  terse: ["getFields", "updateBulkRecords", "updateBatchOfRecords", "listChanges"],
};

/** Reports whether an operation has one path in a document, not one for each table. */
export function isShared(operation: DescribedOperation, { holder, brevity }: Extent): boolean {
  return holder === undefined || !isOnTables(operation) || SHARED[brevity].includes(operation.id);
}

/** Describes an operation at its paths; none if the token does not allow it. @see H21 */
export function describePaths(operation: DescribedOperation, extent: Extent): [
  string,
  JsonSchema,
][] {
  const { holder, brevity } = extent;
  const { path, method } = operation;
  const scope = findScope(operation);
  if (holder !== undefined && scope !== undefined && !holder.access.scopes.includes(scope)) {
    return [];
  }
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

/** Lists the tables that each parameter can name, for parameters that cannot name every table. */
export function listChoices(
  { tables }: Holder,
): Readonly<Partial<Record<ParameterName, readonly string[]>>> {
  const names = (chosen: readonly Table[]) => chosen.map(({ name }) => name);
  return {
    WritableTable: names(tables.filter(({ writable }) => writable)),
    TableWithFeed: names(tables.filter(({ feed }) => feed !== undefined)),
  };
}

/** Names the parameter of a path with `{table}`. */
export function nameChoice(
  operation: DescribedOperation,
  holder: Holder | undefined,
): ParameterName {
  if (holder === undefined) return "Table";
  if (operation.id === "listChanges") return "TableWithFeed";
  return isUpdate(operation) ? "WritableTable" : "Table";
}

/** Reports whether the path of an operation names a table. */
export function isOnTables({ path }: DescribedOperation): boolean {
  return path.includes("{table}");
}

function isUpdate({ body }: DescribedOperation): boolean {
  return body === "Update" || body === "Batch";
}

function isPossible(operation: DescribedOperation, { writable, feed }: Table): boolean {
  if (operation.id === "listChanges") return feed !== undefined;
  return writable || !isUpdate(operation);
}

function findScope(operation: DescribedOperation): Access["scopes"][number] | undefined {
  if (isUpdate(operation)) return "update";
  const queries = operation.body === "Query" || operation.id === "listChanges";
  return operation.scope ?? (queries ? "query" : undefined);
}
