import type { FoundTable, Introspection, Reading } from "./introspection.ts";

/** A table as it was found by the last readings. */
export interface KnownTable {
  readonly table: FoundTable;
  readonly state: string;
  readonly digest: string;
  /**
   * True if two readings found this state with the same description, so that it need not be read
   * again. One reading is not enough: shortly after a commit, a session may find the new rows in a
   * scan while its functions for rights still give the old answers.
   */
  readonly isSure: boolean;
}

/**
 * What is known of the schemas, so that only changes have to be read. It is immutable: readings
 * replace it.
 */
export interface Known {
  /** The same object as long as nothing changes; the same applies to its tables and types. */
  readonly introspection: Introspection;
  /** By oid, in the order of the introspection. */
  readonly tables: ReadonlyMap<string, KnownTable>;
}

/** The state before the first reading, which reads everything. */
export const NOTHING_KNOWN: Known = {
  introspection: {
    usable: [],
    timeZone: "",
    distributes: false,
    tables: [],
    types: {},
    credentialTables: [],
  },
  tables: new Map(),
};

/** Adds a reading to what is known. Unused types stay known until they are dropped. @see T78, T79 */
export function addReading(known: Known, { tables: read, order, ...rest }: Reading): Known {
  const { tables: _, ...restBefore } = known.introspection;
  const isSame = order === null && isEqual(rest, restBefore);
  if (isSame && read.length === 0) return known;
  const tables = new Map(known.tables);
  for (const { oid, state, digest, table } of read) {
    const before = known.tables.get(oid);
    const found = before?.digest === digest ? before.table : table;
    if (found === null) throw new Error(`The reading lacks table ${oid}`);
    const isSure = before?.state === state && before.digest === digest;
    tables.set(oid, { table: found, state, digest, isSure });
  }
  if (isSame) return { introspection: known.introspection, tables };
  const ordered = order === null ? tables : new Map(
    order.map((oid): [string, KnownTable] => {
      const table = tables.get(oid);
      if (table === undefined) throw new Error(`The reading lacks table ${oid}`);
      return [oid, table];
    }),
  );
  const found = [...ordered.values()].map(({ table }) => table);
  const types = isEqual(rest.types, restBefore.types) ? restBefore.types : rest.types;
  return { introspection: { ...rest, types, tables: found }, tables: ordered };
}

function isEqual(some: unknown, others: unknown): boolean {
  return JSON.stringify(some) === JSON.stringify(others);
}
