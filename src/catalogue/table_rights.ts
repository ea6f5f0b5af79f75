import type { Column } from "./catalogue.ts";
import { isMandatory } from "./build_columns.ts";
import type { Introspection } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import type { NamedTable } from "./table_names.ts";
import type { LackingRight, WriteGaps } from "./write_gaps.ts";

/** What decides on the gaps of a table. */
interface GapOptions {
  readonly policy: TablePolicy;
  readonly isShared: boolean;
  readonly isCreatable: boolean;
  /** The columns that clients see, by their names in the database. */
  readonly columns: ReadonlyMap<string, Column>;
  readonly tenantNames: readonly string[];
  readonly types: Introspection["types"];
}

/** Finds what keeps clients from creating and deleting rows, where the operator may not expect it. */
export function findWriteGaps(found: NamedTable, options: GapOptions): WriteGaps {
  return {
    rights: listLackingRights(found, options),
    unsettable: options.isCreatable ? listUnsettable(found, options) : [],
  };
}

/**
 * Lists the rights that the role lacks to create or delete rows, where neither the policy nor the kind
 * of table speaks against it.
 * @see R70
 */
function listLackingRights(
  found: NamedTable,
  { policy, isShared }: GapOptions,
): readonly LackingRight[] {
  const isTable = found.kind === "r" || found.kind === "p" || policy.writable;
  if (isShared || !isTable || policy.readOnly) return [];
  const lacking = (right: LackingRight["right"], operation: "create" | "delete") => ({
    right,
    isAsked: policy.asked?.includes(operation) === true,
  });
  return [
    ...(policy.create && !found.inserts.granted ? [lacking("insert", "create")] : []),
    ...(policy.delete ? listForDeletes(found, policy.softDelete, lacking) : []),
  ];
}

/** A delete that marks a row needs no right but to update the mark; the policy has asked for it. */
function listForDeletes(
  { columns, deletes }: NamedTable,
  mark: string | undefined,
  lacking: (right: LackingRight["right"], operation: "delete") => LackingRight,
): readonly LackingRight[] {
  if (mark === undefined) return deletes.granted ? [] : [lacking("delete", "delete")];
  const isLacking = columns.some(({ name, update }) => name === mark && !update);
  return isLacking ? [{ right: "update", column: mark, isAsked: true }] : [];
}

/**
 * Lists the columns, by their names in the database, that a new row must have and no client can set.
 * @see R71
 */
function listUnsettable(
  found: NamedTable,
  { columns, tenantNames, types }: GapOptions,
): readonly string[] {
  const isSettable = (name: string) => {
    const column = columns.get(name);
    return column !== undefined && column.unset === undefined;
  };
  return found.columns.filter((column) =>
    isMandatory(column, types) && !column.generated && !column.identity &&
    !tenantNames.includes(column.name) && !isSettable(column.name)
  ).map(({ name }) => name);
}
