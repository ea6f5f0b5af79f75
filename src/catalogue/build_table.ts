import { NAME_PATTERN } from "../errors/limits.ts";
import type { Column, ReadOnlyReason, SqlText, Table } from "./catalogue.ts";
import { describeType } from "./column_type.ts";
import type { FoundColumn, FoundTable, Introspection } from "./introspection.ts";
import type { TablePolicy } from "./policy.ts";
import { quoteIdentifier } from "./quote_identifier.ts";
import { buildRowFilter } from "./row_filter.ts";
import type { NamedTable } from "./table_names.ts";
import type { BuildContext } from "./tenant_column.ts";
import { findTenancy, findUnlockable } from "./tenant_path.ts";
import { isLocalTime } from "./time_zone.ts";

const NO_POLICY: TablePolicy = {
  tenantColumns: undefined,
  tenantVia: undefined,
  shared: false,
  expose: false,
  primaryKey: [],
  hiddenColumns: new Set(),
  readOnly: false,
  writable: false,
  only: undefined,
  name: undefined,
  columnNames: new Map(),
  readOnlyColumns: new Set(),
};

/**
 * Builds the table that clients see; undefined for a table that is not exposed: it has no tenant
 * column and is not shared, the role cannot read it, or the policy does not expose the view.
 * @see T2, T5, T7
 */
export function buildTable(found: NamedTable, context: BuildContext): Table | undefined {
  const { warnings } = context;
  const policy = found.policy ?? NO_POLICY;
  const { schema, name, policyKey } = found;
  const stored = found.kind === "r" || found.kind === "p";
  for (const message of listMismatches(found, policy)) {
    warnings.push(`policy: tables.${policyKey}${message}`);
  }
  const tenancy = findTenancy(found, { policy, context });
  if (tenancy === "none" || !stored && !policy.expose && !policy.shared) return undefined;
  const own = stored ? ownKey(found) : [];
  const keyNames = own.length > 0 ? own : policy.primaryKey;
  const unlockable = tenancy === "shared" ? undefined : findUnlockable(tenancy, context);
  if (unlockable !== undefined) {
    warnings.push(
      `table "${found.called}": cannot be updated, because an update locks rows of "${unlockable}", ` +
        "and the database role may update no column of it",
    );
  }
  const writable = tenancy !== "shared" && (stored || policy.writable) && found.updatable &&
    !policy.readOnly && unlockable === undefined;
  if (stored && !found.updatable) {
    warnings.push(`table "${found.name}": cannot be updated, its engine does not support that`);
  }
  const tenants = tenancy === "shared" || tenancy.via.length > 0 ? [] : tenancy.columns;
  const tenant = tenants.length === 1 ? tenants[0] : undefined;
  const tenantNames = tenants.map(({ name }) => name);
  const build = (column: FoundColumn) =>
    buildColumn(column, {
      types: context.types,
      timeZone: context.timeZone,
      closed: !writable || policy.readOnlyColumns.has(column.name),
      isTenant: tenantNames.includes(column.name),
      primaryKey: keyNames.includes(column.name),
      exposedName: policy.columnNames.get(column.name),
    });
  const columns = new Map<string, Column>();
  /** The same columns by their names in the database. */
  const byStoredName = new Map<string, Column>();
  const unnamed: string[] = [];
  for (const column of found.columns) {
    if (!column.select || policy.hiddenColumns.has(column.name)) continue;
    const built = build(column);
    if (!NAME_PATTERN.test(built.name)) unnamed.push(column.name);
    else if (columns.has(built.name)) {
      warnings.push(
        `policy: tables.${policyKey}.columns: two columns are called "${built.name}", not exposed`,
      );
      return undefined;
    } else {
      columns.set(built.name, built);
      byStoredName.set(column.name, built);
    }
  }
  if (columns.size === 0) return undefined;
  const only = buildRowFilter(found, { group: policy.only, columns, build, warnings });
  if (only === "wrong") return undefined;
  // The table includes the rows of its child tables, whose keys may repeat.
  const keyUnique = own.length > 0 && !found.hasChildTables &&
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
    tenant,
    only,
    writable: writable && [...columns.values()].some((column) => column.readOnly === undefined),
    pinnable: found.pinnable,
    hasOtherEngine: found.engines !== null,
    mayRefuse: found.mayRefuse === true,
    distribution: found.distribution,
    isSpread: (found.distribution ?? "") !== "" || found.engines?.includes("") === true,
    feed: keyUnique && hasLog && found.feed !== null ? Number(found.feed) : undefined,
    hasRewriteRules: found.hasRewriteRules,
    timeZone: context.timeZone === "UTC" ? undefined : context.timeZone,
  };
}

function buildColumn(
  found: FoundColumn,
  { types, timeZone, primaryKey, isTenant, closed, exposedName = found.name }: {
    readonly types: Introspection["types"];
    readonly timeZone: string;
    readonly primaryKey: boolean;
    readonly isTenant: boolean;
    readonly closed: boolean;
    readonly exposedName: string | undefined;
  },
): Column {
  const { notNull, ...type } = describeType(found, types);
  return {
    name: exposedName,
    identifier: quoteIdentifier(found.name),
    alias: exposedName === found.name ? undefined : quoteIdentifier(exposedName),
    ...type,
    nullable: !found.notNull && !notNull,
    primaryKey,
    readOnly: reasonNotToSet(),
    deterministic: found.deterministic,
    timeZone: isLocalTime(type.baseType) ? timeZone : undefined,
    comment: found.comment,
  };

  function reasonNotToSet(): ReadOnlyReason | undefined {
    if (primaryKey) return "primary key";
    if (isTenant) return "tenant";
    if (found.generated) return "generated";
    if (found.identity) return "identity";
    if (closed) return "policy";
    if (type.kind === "composite" || type.elementKind === "composite") return "composite";
    if (type.namesObjects) return "names objects";
    return found.update ? undefined : "privilege";
  }
}

function ownKey(found: FoundTable): readonly string[] {
  const names = new Map(found.columns.map((column) => [column.number, column.name]));
  return found.key.flatMap((number) => names.get(number) ?? []);
}

/** Lists columns that an index begins with, or has directly after the tenant's column. */
function listOrdered(found: FoundTable, tenant: string | undefined): readonly SqlText[] {
  const names = new Map(found.columns.map((column) => [String(column.number), column.name]));
  return found.indexes.flatMap((index) => {
    const [first, second] = index.split(" ").map((number) => names.get(number));
    const name = first !== undefined && first === tenant ? second : first;
    return name === undefined ? [] : [quoteIdentifier(name)];
  });
}

/** Lists the unique indexes of a table, or the key that the policy gives to a view. */
function listUnique(
  found: FoundTable,
  { keyNames, tenants }: {
    readonly keyNames: readonly string[];
    readonly tenants: readonly string[];
  },
): SqlText[][] {
  // The table includes the rows of its child tables, which its indexes do not cover.
  if (found.hasChildTables) return [];
  const names = new Map(found.columns.map((column) => [column.number, column.name]));
  const indexes = found.unique.map((numbers) => numbers.map((number) => names.get(number)!));
  const lists = found.key.length > 0 ? indexes : [...indexes, keyNames];
  return lists.filter((list) => list.length > 0)
    .map((list) => list.filter((name) => !tenants.includes(name)).map(quoteIdentifier));
}

/** Reports whether the index of the key has the tenant's column, or another one is (tenant, key). */
function isKeyIndexed(found: FoundTable, tenant: string | undefined): boolean {
  const number = found.columns.find((column) => column.name === tenant)?.number;
  const [first, ...others] = found.key;
  if (number === undefined) return false;
  return found.key.includes(number) ||
    others.length === 0 && found.indexes.includes(`${number} ${first}`);
}

/** Reports whether clients can see the column and its type has an `=` of its own. */
function isPlain(column: Column | undefined): boolean {
  return column !== undefined && column.comparedAs === undefined;
}

/** Lists where the policy of a table does not match the database. */
function listMismatches(found: FoundTable, policy: TablePolicy): readonly string[] {
  const stored = found.kind === "r" || found.kind === "p";
  const names = new Set(found.columns.map((column) => column.name));
  const lists = [
    ["hidden_columns", policy.hiddenColumns],
    ["read_only_columns", policy.readOnlyColumns],
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
    messages.push(".primary_key: the table has a primary key of its own, left out");
  }
  if (policy.writable && !found.updatable) {
    messages.push(`.writable: Postgres does not update this view by itself, left out`);
  }
  if (stored && policy.expose) messages.push(`.expose: is for views and foreign tables, left out`);
  return messages;
}
