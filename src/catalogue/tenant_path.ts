import type { ReferencePair, Tenancy, TenantStep } from "./catalogue.ts";
import { describeType } from "./column_type.ts";
import type { FoundForeignKey } from "./introspection.ts";
import type { TablePolicy, TenantVia } from "./policy.ts";
import { only, qualifyTable, quoteIdentifier } from "./quote_identifier.ts";
import type { NamedTable } from "./table_names.ts";
import { type BuildContext, findTenantColumns } from "./tenant_column.ts";

/** How a table's tenant is found: `shared` for a look-up table, `none` for one that stays closed. */
export type FoundTenancy = Tenancy | "shared" | "none";

/**
 * Finds how the tenant of a row is determined: by a column of its table or, as the policy says, by
 * foreign keys that lead to a table with one. A path that cannot be followed is reported, and the
 * table stays closed.
 * @see T57, T58
 */
export function findTenancy(
  found: NamedTable,
  { policy, context }: {
    readonly policy: Pick<TablePolicy, "tenantColumns" | "tenantVia" | "shared">;
    readonly context: BuildContext;
  },
): FoundTenancy {
  const { options, warnings } = context;
  const { tenantVia } = policy;
  const where = `policy: tables.${found.policyKey}.tenant_via`;
  if (tenantVia === undefined) {
    const columns = findTenantColumns(found, { policy, context });
    return typeof columns === "string" ? columns : { columns, via: [] };
  }
  if (found.columns.some(({ name }) => name === options.tenantColumn)) {
    warnings.push(`${where}: ignored, because the table has "${options.tenantColumn}"`);
    return findTenancy(found, { policy: { ...policy, tenantVia: undefined }, context });
  }
  const path = followPath(found, tenantVia, context);
  if (typeof path !== "string") return path;
  warnings.push(`${where}: ${path}, not exposed`);
  return "none";
}

/** Follows foreign keys to a table with a tenant column; returns the problem if there is one. */
function followPath(
  from: NamedTable,
  first: TenantVia,
  context: BuildContext,
): Tenancy | string {
  const { options, tables } = context;
  const passed = new Set([from.identifier]);
  const via: TenantStep[] = [];
  let table = from;
  let next: TenantVia | undefined = first;
  while (next !== undefined) {
    const parent = tables.get(next.table);
    if (parent === undefined) return `there is no table "${next.table}" with a tenant`;
    if (passed.has(parent.identifier)) return `it leads back to "${parent.called}"`;
    passed.add(parent.identifier);
    const step = findStep(table, { parent, columns: next.columns, context });
    if (typeof step === "string") return step;
    via.push(step);
    const hasColumn = parent.columns.some(({ name }) => name === options.tenantColumn);
    next = hasColumn ? undefined : parent.policy?.tenantVia;
    table = parent;
  }
  // Problems of the last table itself are reported when that table is built.
  const policy = table.policy ?? NO_TENANT_POLICY;
  const columns = findTenantColumns(table, { policy, context: { ...context, warnings: [] } });
  return typeof columns === "string"
    ? `neither a column nor the policy says which tenant the rows of "${table.called}" belong to`
    : { columns, via };
}

const NO_TENANT_POLICY = { tenantColumns: undefined, shared: false };

function findStep(
  table: NamedTable,
  { parent, columns, context }: {
    readonly parent: NamedTable;
    readonly columns: readonly string[];
    readonly context: BuildContext;
  },
): TenantStep | string {
  const list = columns.map((name) => `"${name}"`).join(", ");
  const keys = table.foreignKeys.filter((each) =>
    qualifyTable(each.schema, each.target) === parent.identifier &&
    isSameList(each.columns, columns)
  );
  const key = keys.find(({ holds }) => holds);
  if (key === undefined) {
    const found = keys.length > 0 ? "no foreign key that holds for every row" : "no foreign key";
    return `${found} of "${table.called}" refers from ${list} to "${parent.called}"`;
  }
  if (table.hasChildTables) return `"${table.called}" has child tables, which have no foreign key`;
  return makeStep(table, { parent, key, context });
}

/** Makes the step from a table over a foreign key; returns the problem if it cannot be followed. */
export function makeStep(
  table: NamedTable,
  { parent, key, context }: {
    readonly parent: NamedTable;
    readonly key: Pick<FoundForeignKey, "columns" | "targetColumns">;
    readonly context: BuildContext;
  },
): TenantStep | string {
  const list = key.columns.map((name) => `"${name}"`).join(", ");
  const unreadable = findUnreadable(table, key.columns) ??
    findUnreadable(parent, key.targetColumns);
  if (unreadable !== undefined) return `the database role may not select ${unreadable}`;
  if (!isCompared(table, key.columns, context) || !isCompared(parent, key.targetColumns, context)) {
    return `a column of ${list} has a type that has no = of its own`;
  }
  const pairs = key.columns.map((column, place): ReferencePair => {
    const found = table.columns.find(({ name }) => name === column)!;
    return {
      from: quoteIdentifier(column),
      to: quoteIdentifier(key.targetColumns[place]!),
      operators: describeType(found, context.types).operators,
    };
  });
  const { identifier, called } = parent;
  const source = parent.kind === "p" ? identifier : only(identifier);
  return { table: called, identifier, source, columns: key.columns, pairs };
}

/** Reports whether two lists have the same columns, in any order. */
export function isSameList(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name) => others.includes(name));
}

function findUnreadable(table: NamedTable, names: readonly string[]): string | undefined {
  const column = table.columns.find(({ name, select }) => names.includes(name) && !select);
  return column && `"${table.called}"."${column.name}"`;
}

/** Reports whether a `=` compares the columns, as in a filter. */
function isCompared(
  { columns }: NamedTable,
  names: readonly string[],
  { types }: BuildContext,
): boolean {
  return columns.filter(({ name }) => names.includes(name))
    .map((column) => describeType(column, types))
    .every(({ equality, comparedAs }) => equality && comparedAs === undefined);
}

/**
 * Finds a table on the path whose rows the role may not lock, as an update must; that needs UPDATE on
 * any column.
 * @see T60
 */
export function findUnlockable(
  { via }: Tenancy,
  { tables }: Pick<BuildContext, "tables">,
): string | undefined {
  // A search, because few tables have a path: an index of all tables, made for each table, takes
  // seconds for 10,000 tables.
  const isParent = (identifier: string) => (table: NamedTable) => table.identifier === identifier;
  return via.find(({ identifier }) =>
    [...tables.values()].find(isParent(identifier))?.columns.every(({ update }) => !update)
  )?.table;
}
