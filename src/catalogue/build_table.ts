import type { Column, Table } from "./catalogue.ts";
import {
  describeWriting,
  explainUnlockable,
  type ExposedTenancy,
  findWrites,
  hasKey,
  isLockable,
  isMarkable,
  isStored,
  WITHOUT_KEY,
} from "./build_writes.ts";
import { buildColumn, buildColumns } from "./build_columns.ts";
import type { FoundColumn, FoundTable } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import { buildRowSecurity, explainBlindness } from "./row_security.ts";
import { buildRowFilter } from "./row_filter.ts";
import { findWriteGaps } from "./table_rights.ts";
import { isKeyIndexed, listMatchKeys, listOrdered, listUnique, ownKey } from "./table_keys.ts";
import type { NamedTable } from "./table_names.ts";
import type { BuildContext } from "./tenant_column.ts";
import { findSoftDelete, withClosedMark, withSoftDelete } from "./soft_delete.ts";
import { findReferences } from "./references.ts";
import { findTenancy, findUnlockable } from "./tenant_path.ts";

const NO_POLICY: TablePolicy = {
  tenantColumns: undefined,
  tenantVia: undefined,
  shared: false,
  expose: false,
  primaryKey: [],
  hiddenColumns: new Set(),
  readOnly: false,
  create: true,
  delete: true,
  writable: false,
  softDelete: undefined,
  only: undefined,
  name: undefined,
  columnNames: new Map(),
  readOnlyColumns: new Set(),
  crossTenantColumns: new Set(),
};

/**
 * Builds the table that clients see; undefined for a table that is not exposed: it has no tenant
 * column and is not shared, the role cannot read it, or the policy does not expose the view.
 * @see T2, T5, T7
 */
export function buildTable(found: NamedTable, context: BuildContext): Table | undefined {
  const { warnings, types, timeZone } = context;
  const policy = withClosedMark(found.policy ?? NO_POLICY);
  const { schema, name, policyKey } = found;
  for (const message of listMismatches(found, policy)) {
    warnings.push(`policy: tables.${policyKey}${message}`);
  }
  const tenancy = findTenancy(found, { policy, context });
  const isExposed = isStored(found) || policy.expose || policy.shared;
  if (tenancy === "none" || !isExposed) return undefined;
  const own = isStored(found) ? ownKey(found) : [];
  const keyNames = own.length > 0 ? own : policy.primaryKey;
  const unwritable = findUncheckable(found, keyNames, policy);
  const writable = isWritable(found, { policy, tenancy, unwritable, context });
  const writes = findWrites(found, { policy, tenancy, keyNames, context });
  const tenants = tenancy === "shared" || tenancy.via.length > 0 ? [] : tenancy.columns;
  const tenant = tenants.length === 1 ? tenants[0] : undefined;
  const tenantNames = tenants.map(({ name }) => name);
  const references = findReferences(found, { policy, tenancy, context });
  const { uncheckable } = references;
  const options = {
    ...{ types, timeZone, policy, writable, tenantNames, keyNames, uncheckable },
    isCreatable: writes.creatable,
  };
  const build = (column: FoundColumn) => buildColumn(column, options);
  const { byName: columns, byStoredName, unnamed, duplicate } = buildColumns(
    found,
    policy,
    build,
  );
  if (duplicate !== undefined) {
    warnings.push(
      `policy: tables.${policyKey}.columns: two columns are called "${duplicate}", so the table is not exposed`,
    );
    return undefined;
  }
  if (columns.size === 0) return undefined;
  const { tenantSetting } = context.options;
  const blindness = tenantSetting === undefined
    ? undefined
    : explainBlindness(found, tenantSetting);
  if (blindness !== undefined) {
    context.blind.set(found.called, blindness);
    warnings.push(`table "${found.called}": ${blindness}, not exposed`);
    return undefined;
  }
  warnings.push(...listUnset(found, byStoredName, uncheckable));
  const softDelete = findSoftDelete(found, { policy, build, warnings });
  if (softDelete === "wrong") return undefined;
  const group = withSoftDelete(policy.only, softDelete);
  const only = buildRowFilter(found, { group, columns, build, warnings });
  if (only === "wrong") return undefined;
  // The table includes the rows of its child tables, whose keys may repeat.
  const keyUnique = own.length > 0 && found.keyIsValid && !found.hasChildTables &&
    keyNames.every((name) => tenantNames.includes(name) || isPlain(byStoredName.get(name)));
  const readable = new Map(
    found.columns.filter((each) => each.select).map((each) => [
      each.name,
      each,
    ]),
  );
  // The log of changes needs the tenant as one text, from the row itself, even after the row is
  // deleted.
  const hasLog = tenancy === "shared" || tenant !== undefined;
  return {
    name: policy.name ?? found.called,
    identifier: found.identifier,
    stored: { schema, name, policyKey },
    unnamed,
    comment: found.comment,
    columns,
    primaryKey: keyNames.flatMap((name) => byStoredName.get(name) ?? []),
    keyOrder: keyNames.flatMap((name) => byStoredName.get(name) ?? readable.get(name) ?? [])
      .map((column) => "identifier" in column ? column : build(column)),
    uniqueColumns: listUnique(found, { keyNames, tenants: tenantNames }),
    orderedByIndex: new Set(listOrdered(found, tenant?.name)),
    keyUnique,
    keyIndexed: keyUnique && isKeyIndexed(found, tenant?.name),
    tenancy: tenancy === "shared" ? undefined : tenancy,
    references: references.checked,
    tenant,
    only,
    rowSecurity: buildRowSecurity(found, build),
    writable: writable && [...columns.values()].some((column) => column.readOnly === undefined),
    pinnable: found.pinnable,
    hasOtherEngine: found.engines !== null,
    mayRefuse: found.mayRefuse === true,
    distribution: found.distribution,
    isSpread: (found.distribution ?? "") !== "" || found.engines?.includes("") === true,
    feed: keyUnique && hasLog && found.feed !== null ? Number(found.feed) : undefined,
    hasRewriteRules: found.hasRewriteRules,
    maySkip: found.early,
    rereads: found.late,
    uncheckable: tenancy === "shared" ? undefined : unwritable,
    timeZone: context.timeZone === "UTC" ? undefined : context.timeZone,
    gaps: findWriteGaps(found, {
      ...{ policy, tenantNames, types, columns: byStoredName },
      ...{ isShared: tenancy === "shared", isCreatable: writes.creatable },
    }),
    creatable: writes.creatable &&
      [...columns.values()].some((column) => column.unset === undefined),
    deletable: softDelete === undefined ? writes.deletable : isMarkable(found, policy, writable),
    softDelete,
    cascades: writes.cascades,
    lockable: isLockable(found),
    matchKeys: writable && writes.creatable
      ? listMatchKeys(found, { byStoredName, tenants: tenantNames })
      : [],
    inserts: describeWriting(found.inserts),
    deletes: describeWriting(found.deletes),
  };
}

/** Reports whether clients may update the table; warns if the operator would expect it. */
function isWritable(
  found: NamedTable,
  { policy, tenancy, unwritable, context }: {
    readonly policy: TablePolicy;
    readonly tenancy: ExposedTenancy;
    readonly unwritable: string | undefined;
    readonly context: BuildContext;
  },
): boolean {
  const { warnings } = context;
  const unlockable = tenancy === "shared" ? undefined : findUnlockable(tenancy, context);
  if (unlockable !== undefined) {
    warnings.push(`table "${found.called}": cannot be updated, ${explainUnlockable(unlockable)}`);
  }
  if (isStored(found) && !found.updatable) {
    warnings.push(`table "${found.name}": cannot be updated, its engine does not support that`);
  }
  const isOpen = tenancy !== "shared" && (isStored(found) || policy.writable) && found.updatable &&
    !policy.readOnly && unlockable === undefined;
  if (isOpen && unwritable !== undefined) {
    warnings.push(`table "${found.called}": cannot be updated, ${unwritable}`);
  }
  return isOpen && unwritable === undefined;
}

/**
 * Finds why the rows of an update could not be checked: something else writes them in place of
 * Postgres, or nothing that the role may read identifies them, so that they cannot be read again.
 * @see T86
 */
function findUncheckable(
  found: NamedTable,
  keyNames: readonly string[],
  policy: TablePolicy,
): string | undefined {
  if (policy.writable && !isStored(found) && !found.updatable) return NOT_UPDATABLE;
  return found.late && !hasKey(found, keyNames) ? WITHOUT_KEY : undefined;
}

/** Lists the columns that could be set if their references could be checked, and why they cannot be. */
function listUnset(
  { called }: NamedTable,
  columns: ReadonlyMap<string, Column>,
  uncheckable: ReadonlyMap<string, string>,
): readonly string[] {
  return [...uncheckable].flatMap(([stored, reason]) => {
    const column = columns.get(stored);
    return column?.readOnly !== "reference" ? [] : [
      `table "${called}": "${column.name}" cannot be set, because its reference cannot be checked: ${reason}`,
    ];
  });
}

const NOT_UPDATABLE =
  "because Postgres does not update it by itself: it must be a view of one table, " +
  "without triggers or rules on UPDATE";

/** Reports whether clients can see the column and its type has an `=` of its own. */
function isPlain(column: Column | undefined): boolean {
  return column !== undefined && column.comparedAs === undefined;
}

/** Lists where the policy of a table does not match the database. */
function listMismatches(found: FoundTable, policy: TablePolicy): readonly string[] {
  const names = new Set(found.columns.map((column) => column.name));
  const lists = [
    ["hidden_columns", policy.hiddenColumns],
    ["read_only_columns", policy.readOnlyColumns],
    ["cross_tenant_columns", policy.crossTenantColumns],
    ["primary_key", policy.primaryKey],
    ["columns", policy.columnNames.keys()],
  ] as const;
  const messages: string[] = [];
  for (const [list, columns] of lists) {
    for (const column of columns) {
      if (!names.has(column)) messages.push(`.${list}: there is no column "${column}"`);
    }
  }
  if (found.key.length > 0 && policy.primaryKey.length > 0) {
    messages.push(".primary_key: ignored, because the table has a primary key of its own");
  }
  if (policy.writable && !found.updatable) {
    messages.push(`.writable: ignored, because Postgres does not update this view by itself`);
  }
  if (isStored(found) && policy.expose) {
    messages.push(`.expose: ignored, because it is for views and foreign tables`);
  }
  return messages;
}
