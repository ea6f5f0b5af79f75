import type { Column, SqlText } from "./catalogue.ts";
import type { FoundTable } from "./introspection.ts";
import { quoteIdentifier } from "./quote_identifier.ts";

/** Lists the columns of a table's own primary key, by their names in the database. */
export function ownKey(found: FoundTable): readonly string[] {
  const names = new Map(found.columns.map((column) => [column.number, column.name]));
  return found.key.flatMap((number) => names.get(number) ?? []);
}

/** Lists columns that an index begins with, or has directly after the tenant's column. */
export function listOrdered(found: FoundTable, tenant: string | undefined): readonly SqlText[] {
  const names = new Map(found.columns.map((column) => [String(column.number), column.name]));
  return found.indexes.flatMap((index) => {
    const [first, second] = index.split(" ").map((number) => names.get(number));
    const name = first !== undefined && first === tenant ? second : first;
    return name === undefined ? [] : [quoteIdentifier(name)];
  });
}

/** Lists the unique indexes of a table, or the key that the policy gives to a view. */
export function listUnique(
  found: FoundTable,
  { keyNames, tenants }: {
    readonly keyNames: readonly string[];
    readonly tenants: readonly string[];
  },
): SqlText[][] {
  // The table includes the rows of its child tables, which its indexes do not cover.
  if (found.hasChildTables) return [];
  const names = new Map(found.columns.map((column) => [column.number, column.name]));
  const indexes = found.unique.filter(({ neverNull }) => neverNull)
    .map(({ columns }) => columns.map((number) => names.get(number)!));
  const lists = found.key.length > 0 ? indexes : [...indexes, keyNames];
  return lists.filter((list) => list.length > 0)
    .map((list) => list.filter((name) => !tenants.includes(name)).map(quoteIdentifier));
}

/**
 * Lists the unique keys by which an upsert can find a row: each as its columns without the tenant's. A
 * new record must be able to set all of them, and a request to compare them as the index does.
 * @see UP3
 */
export function listMatchKeys(
  found: FoundTable,
  { byStoredName, tenants }: {
    readonly byStoredName: ReadonlyMap<string, Column>;
    readonly tenants: readonly string[];
  },
): readonly (readonly Column[])[] {
  const hasRules = found.hasRewriteRules || found.inserts.hasRewriteRules;
  if (found.hasChildTables || hasRules || found.engines !== null) return [];
  const names = new Map(found.columns.map((column) => [column.number, column.name]));
  const keys = new Map<string, readonly Column[]>();
  for (const { columns, immediate } of found.unique) {
    const own = columns.map((number) => names.get(number)!)
      .filter((name) => !tenants.includes(name));
    const key = own.flatMap((name) => byStoredName.get(name) ?? []);
    const isUsable = immediate && own.length > 0 && key.length === own.length &&
      key.every(({ unset, equality, comparedAs }) =>
        unset === undefined && equality && comparedAs === undefined
      );
    if (isUsable) keys.set(key.map(({ name }) => name).sort().join(), key);
  }
  return [...keys.values()];
}

/** Reports whether the index of the key has the tenant's column, or another one is (tenant, key). */
export function isKeyIndexed(found: FoundTable, tenant: string | undefined): boolean {
  const number = found.columns.find((column) => column.name === tenant)?.number;
  const [first, ...others] = found.key;
  if (number === undefined) return false;
  return found.key.includes(number) ||
    others.length === 0 && found.indexes.includes(`${number} ${first}`);
}
