import { NAME_PATTERN } from "../basics/errors/limits.ts";
import type { Column } from "./catalogue.ts";
import type { ReadOnlyReason } from "./read_only_reason.ts";
import { describeType } from "./column_type.ts";
import type { FoundColumn, Introspection } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import { quoteIdentifier } from "./quote_identifier.ts";
import type { NamedTable } from "./table_names.ts";
import { isLocalTime } from "./time_zone.ts";

/** The columns that clients see. */
export interface BuiltColumns {
  readonly byName: ReadonlyMap<string, Column>;
  /** The same columns by their names in the database. */
  readonly byStoredName: ReadonlyMap<string, Column>;
  /** Columns that are left out, because a client could not write their names. */
  readonly unnamed: readonly string[];
  /** Two columns have this name, so the table cannot be exposed. */
  readonly duplicate?: string;
}

/** What the columns of a table have in common. */
export interface ColumnOptions {
  readonly types: Introspection["types"];
  readonly timeZone: string;
  readonly policy: TablePolicy;
  /** Whether the table can be updated. */
  readonly writable: boolean;
  /** Whether rows can be inserted into it. */
  readonly isCreatable: boolean;
  /** Columns of the tenant and of the key, by their names in the database. */
  readonly tenantNames: readonly string[];
  readonly keyNames: readonly string[];
  /** Columns of foreign keys to rows whose tenant cannot be checked. */
  readonly uncheckable: ReadonlyMap<string, string>;
}

/** Builds the columns of a table that the role may read and the policy does not hide. */
export function buildColumns(
  found: NamedTable,
  { hiddenColumns }: Pick<TablePolicy, "hiddenColumns">,
  build: (column: FoundColumn) => Column,
): BuiltColumns {
  const byName = new Map<string, Column>();
  const byStoredName = new Map<string, Column>();
  const unnamed: string[] = [];
  for (const column of found.columns) {
    if (!column.select || hiddenColumns.has(column.name)) continue;
    const built = build(column);
    if (!NAME_PATTERN.test(built.name)) unnamed.push(column.name);
    else if (byName.has(built.name)) {
      return { byName, byStoredName, unnamed, duplicate: built.name };
    } else {
      byName.set(built.name, built);
      byStoredName.set(column.name, built);
    }
  }
  return { byName, byStoredName, unnamed };
}

/** Builds one column. */
export function buildColumn(
  found: FoundColumn,
  { types, timeZone, policy, writable, isCreatable, tenantNames, keyNames, uncheckable }:
    ColumnOptions,
): Column {
  const { notNull, ...type } = describeType(found, types);
  const unset = reasonNotToSet(isCreatable, found.insert);
  const name = policy.columnNames.get(found.name) ?? found.name;
  const primaryKey = keyNames.includes(found.name);
  return {
    name,
    identifier: quoteIdentifier(found.name),
    alias: name === found.name ? undefined : quoteIdentifier(name),
    ...type,
    nullable: !found.notNull && !notNull,
    primaryKey,
    readOnly: primaryKey ? "primary key" : reasonNotToSet(writable, found.update),
    unset,
    required: unset === undefined && isMandatory(found, types),
    deterministic: found.deterministic,
    timeZone: isLocalTime(type.baseType) ? timeZone : undefined,
    comment: found.comment,
  };

  function reasonNotToSet(isOpen: boolean, isGranted: boolean): ReadOnlyReason | undefined {
    if (tenantNames.includes(found.name)) return "tenant";
    if (found.generated) return "generated";
    if (found.identity) return "identity";
    if (!isOpen || policy.readOnlyColumns.has(found.name)) return "policy";
    if (type.kind === "composite" || type.elementKind === "composite") return "composite";
    if (type.namesObjects) return "names objects";
    if (!isGranted) return "privilege";
    return uncheckable.has(found.name) ? "reference" : undefined;
  }
}

/** Reports whether a new row must have a value in the column and the database gives it none. */
export function isMandatory(found: FoundColumn, types: Introspection["types"]): boolean {
  const { notNull } = describeType(found, types);
  return (found.mandatory || notNull) && !found.hasDefault &&
    types[found.type]?.hasDefault !== true;
}
