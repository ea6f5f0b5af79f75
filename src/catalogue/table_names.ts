import type { SqlText } from "./catalogue.ts";
import type { FoundTable } from "./introspection.ts";
import type { Policy, TablePolicy } from "./policy.ts";
import { qualifyTable } from "./quote_identifier.ts";

/** A found table, with its names and its policy. */
export interface NamedTable extends FoundTable {
  /** The table as it was found, the same object as long as it does not change. */
  readonly found: FoundTable;
  /** `"schema"."table"`, quoted. */
  readonly identifier: SqlText;
  /** Its name without the policy: `orders`; outside the first schema `sales_orders`. */
  readonly called: string;
  /** Its name in the policy, or the one that it would have there. */
  readonly policyKey: string;
  readonly policy: TablePolicy | undefined;
}

/** Tables and their entries of the policy. */
export interface NamedTables {
  /** In the order in which they were found. */
  readonly tables: ReadonlyMap<FoundTable, NamedTable>;
  /** By every name that the policy may use. */
  readonly byName: ReadonlyMap<string, NamedTable>;
  /** Problems that stop the start, because the policy is ambiguous. */
  readonly conflicts: readonly string[];
}

/**
 * Returns the name of a table that has none in the policy: its own name, after that of its schema
 * unless this is the first exposed one.
 * @see T73
 */
export function callTable(
  { schema, name }: Pick<FoundTable, "schema" | "name">,
  [first]: readonly string[],
): string {
  return schema === first ? name : `${schema}_${name}`;
}

/**
 * Returns the name for clients of a table, exposed or not, by its name in the database.
 * @see T70, T73
 */
export function nameStoredTable(
  stored: Pick<FoundTable, "schema" | "name">,
  { policy, schemas }: { readonly policy: Policy; readonly schemas: readonly string[] },
): string {
  const called = callTable(stored, schemas);
  const entry = policy.tables.get(`${stored.schema}.${stored.name}`) ?? policy.tables.get(called);
  return entry?.name ?? called;
}

/**
 * Finds the policy of each table. The policy names a table by its name without the policy, or by its
 * schema, a dot and its name. A table of the first schema takes precedence over a prefixed one with
 * the same name.
 * @see T74
 */
export function nameTables(
  found: readonly FoundTable[],
  { policy, schemas }: { readonly policy: Policy; readonly schemas: readonly string[] },
): NamedTables {
  const places = placeNames(found, schemas);
  const conflicts: string[] = [];
  const keys = new Map<FoundTable, string>();
  for (const key of policy.tables.keys()) {
    const place = places.get(key);
    if (place === undefined) continue;
    const other = place === "several" ? undefined : keys.get(place);
    if (place === "several") {
      conflicts.push(`policy: tables.${key} may be any of several tables, write schema.table`);
    } else if (other === undefined) keys.set(place, key);
    else conflicts.push(`policy: tables.${key} and tables.${other} are the same table`);
  }
  const named = new Map(found.map((table): [FoundTable, NamedTable] => {
    const { schema, name } = table;
    const called = callTable(table, schemas);
    const key = keys.get(table);
    return [table, {
      ...table,
      found: table,
      identifier: qualifyTable(schema, name),
      called,
      policyKey: key ?? (schema === schemas[0] ? name : `${schema}.${name}`),
      policy: key === undefined ? undefined : policy.tables.get(key),
    }];
  }));
  const byName = new Map<string, NamedTable>();
  for (const [name, place] of places) {
    if (place !== "several") byName.set(name, named.get(place)!);
  }
  return { tables: named, byName, conflicts };
}

/** Maps each name to its table; `several` if the names of two tables collide: `a_b.c`, `a.b_c`. */
function placeNames(
  found: readonly FoundTable[],
  schemas: readonly string[],
): ReadonlyMap<string, FoundTable | "several"> {
  const places = new Map<string, FoundTable | "several">();
  const isFirst = ({ schema }: FoundTable) => schema === schemas[0];
  for (const table of found.filter(isFirst)) places.set(table.name, table);
  for (const table of found) {
    const name = `${table.schema}.${table.name}`;
    if (!places.has(name)) places.set(name, table);
  }
  const taken = new Set(places.keys());
  for (const table of found.filter((each) => !isFirst(each))) {
    const name = callTable(table, schemas);
    if (!taken.has(name)) places.set(name, places.has(name) ? "several" : table);
  }
  return places;
}
