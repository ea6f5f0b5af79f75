import { pathOf } from "../basics/errors/issue.ts";
import type { Condition } from "../request/condition.ts";
import type { Group } from "../request/filters.ts";
import type { Column, SoftDelete } from "./catalogue.ts";
import type { FoundColumn } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import type { NamedTable } from "./table_names.ts";

const TIMES: ReadonlySet<string> = new Set(["timestamptz", "timestamp", "date"]);

/**
 * Finds the column by which the policy marks rows as deleted; undefined where there is none. `wrong`, with a
 * warning, if it is neither a time that may be null nor a boolean: then the table stays closed, since
 * rows that were deleted would be shown.
 * @see DE13
 */
export function findSoftDelete(
  found: NamedTable,
  { policy, build, warnings }: {
    readonly policy: TablePolicy;
    readonly build: (column: FoundColumn) => Column;
    readonly warnings: string[];
  },
): SoftDelete | "wrong" | undefined {
  const { softDelete: name } = policy;
  if (name === undefined) return undefined;
  const stored = found.columns.find((column) => column.name === name && column.select);
  const column = stored && build(stored);
  if (stored?.generated === false) {
    if (column?.kind === "boolean") return { column, value: "true" };
    if (TIMES.has(column!.baseType) && column!.nullable) return { column: column!, value: "now" };
  }
  const what = column === undefined
    ? `there is no column "${name}" that the role may read`
    : `"${name}" is neither a time that may be null nor a boolean, or it is generated`;
  warnings.push(`policy: tables.${found.policyKey}.soft_delete: ${what}, not exposed`);
  return "wrong";
}

/** Adds to the row filter of a table that rows which are marked as deleted do not exist. @see DE14 */
export function withSoftDelete(
  only: Group | undefined,
  softDelete: SoftDelete | undefined,
): Group | undefined {
  if (softDelete === undefined) return only;
  const { column: { name: field }, value } = softDelete;
  const path = pathOf("soft_delete");
  const unset: Condition = { kind: "condition", field, op: "is_null", path };
  const isFalse: Condition = { kind: "condition", field, op: "eq", value: false, path };
  const items = value === "now" ? [unset] : [isFalse, unset];
  const live: Group = { kind: "group", combine: "or", items, path };
  return { kind: "group", combine: "and", items: only === undefined ? [live] : [only, live], path };
}

/** Makes the column read-only, so that a row is marked by a delete alone, and not by an update. @see DE15 */
export function withClosedMark(policy: TablePolicy): TablePolicy {
  const { softDelete, readOnlyColumns } = policy;
  if (softDelete === undefined) return policy;
  return { ...policy, readOnlyColumns: new Set([...readOnlyColumns, softDelete]) };
}
