import type { ReferencePair, Tenancy, TenantStep } from "./catalogue.ts";
import { describeType } from "./column_type.ts";
import type { FoundTable } from "./introspect.ts";
import type { TablePolicy, TenantVia } from "./policy.ts";
import { only, qualify, quoteIdentifier } from "./quote_identifier.ts";
import { type BuildContext, findTenantColumns } from "./tenant_column.ts";

/** How a table's tenant is found: `shared` for a look-up table, `none` for one that stays closed. */
export type FoundTenancy = Tenancy | "shared" | "none";

/**
 * Finds how to tell the tenant of a row: by a column of its table or, as the policy says, over foreign
 * keys to the table that has one. What cannot be followed is reported, and the table stays closed.
 * @see T57, T58
 */
export function findTenancy(
  found: FoundTable,
  { policy, context }: { readonly policy: TablePolicy; readonly context: BuildContext },
): FoundTenancy {
  const { options, warnings } = context;
  const { tenantVia } = policy;
  const where = `policy: tables.${found.name}.tenant_via`;
  if (tenantVia === undefined) {
    const columns = findTenantColumns(found, { policy, context });
    return typeof columns === "string" ? columns : { columns, via: [] };
  }
  if (found.columns.some(({ name }) => name === options.tenantColumn)) {
    warnings.push(`${where}: left out, the table has "${options.tenantColumn}"`);
    return findTenancy(found, { policy: { ...policy, tenantVia: undefined }, context });
  }
  const path = followPath(found, tenantVia, context);
  if (typeof path !== "string") return path;
  warnings.push(`${where}: ${path}, not exposed`);
  return "none";
}

/** Follows foreign keys up to a table with a tenant column; gives what is wrong with the path instead. */
function followPath(
  from: FoundTable,
  first: TenantVia,
  context: BuildContext,
): Tenancy | string {
  const { options, tables } = context;
  const passed = new Set([from.name]);
  const via: TenantStep[] = [];
  let table = from;
  let next: TenantVia | undefined = first;
  while (next !== undefined) {
    const parent = tables.get(next.table);
    if (parent === undefined) return `there is no table "${next.table}" with a tenant`;
    if (passed.has(parent.name)) return `it comes back to "${parent.name}"`;
    passed.add(parent.name);
    const step = findStep(table, { parent, columns: next.columns, context });
    if (typeof step === "string") return step;
    via.push(step);
    const policy = options.policy.tables.get(parent.name);
    const hasColumn = parent.columns.some(({ name }) => name === options.tenantColumn);
    next = hasColumn ? undefined : policy?.tenantVia;
    table = parent;
  }
  // What is wrong with the last table is said where that table itself is described.
  const policy = options.policy.tables.get(table.name) ?? NO_TENANT_POLICY;
  const columns = findTenantColumns(table, { policy, context: { ...context, warnings: [] } });
  return typeof columns === "string"
    ? `nothing says whose the rows of "${table.name}" are`
    : { columns, via };
}

const NO_TENANT_POLICY = { tenantColumns: undefined, shared: false };

function findStep(
  table: FoundTable,
  { parent, columns, context }: {
    readonly parent: FoundTable;
    readonly columns: readonly string[];
    readonly context: BuildContext;
  },
): TenantStep | string {
  const list = columns.map((name) => `"${name}"`).join(", ");
  const key = table.foreignKeys.find((each) =>
    each.target === parent.name && isSame(each.columns, columns)
  );
  if (key === undefined) {
    return `no foreign key of "${table.name}" refers from ${list} to "${parent.name}"`;
  }
  const unreadable = findUnreadable(table, key.columns) ??
    findUnreadable(parent, key.targetColumns);
  if (unreadable !== undefined) return `the database role may not select ${unreadable}`;
  if (!isCompared(table, key.columns, context) || !isCompared(parent, key.targetColumns, context)) {
    return `a column of ${list} has a type that has no = of its own`;
  }
  const name = qualify(context.options.schema, parent.name);
  const pairs = key.columns.map((column, place): ReferencePair => ({
    from: quoteIdentifier(column),
    to: quoteIdentifier(key.targetColumns[place]!),
  }));
  const source = parent.kind === "p" ? name : only(name);
  return { table: parent.name, source, columns: key.columns, pairs };
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name) => others.includes(name));
}

function findUnreadable(table: FoundTable, names: readonly string[]): string | undefined {
  const column = table.columns.find(({ name, select }) => names.includes(name) && !select);
  return column && `"${table.name}"."${column.name}"`;
}

/** An unqualified `=` compares the columns, as it compares those of a filter. */
function isCompared(
  { columns }: FoundTable,
  names: readonly string[],
  { types }: BuildContext,
): boolean {
  return columns.filter(({ name }) => names.includes(name))
    .map((column) => describeType(column, types))
    .every(({ equality, comparedAs }) => equality && comparedAs === undefined);
}

/**
 * Reports whether the role may lock the rows that lead to the tenant, as an update has to: with UPDATE
 * on any column. Gives the name of the table where it may not.
 * @see T60
 */
export function findUnlockable(
  { via }: Tenancy,
  { tables }: Pick<BuildContext, "tables">,
): string | undefined {
  return via.find(({ table }) => tables.get(table)?.columns.every(({ update }) => !update))?.table;
}
