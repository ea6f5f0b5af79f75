import type { FoundTable, Introspection, Reading } from "./introspection.ts";

/** A table as the last readings found it. */
export interface KnownTable {
  readonly table: FoundTable;
  readonly state: string;
  readonly digest: string;
  /**
   * Two readings found the table in this state and described it alike, so that it need not be described
   * again. One is not enough: a session that has not yet heard of a commit already finds its rows in a
   * scan, while its functions for rights still answer from before.
   */
  readonly isSure: boolean;
}

/** What is known of the schemas, so that only what changed has to be read. It is replaced, never changed. */
export interface Known {
  /** The same object as long as nothing in it changes; its tables and its types likewise. */
  readonly introspection: Introspection;
  /** By oid, in the order of the introspection. */
  readonly tables: ReadonlyMap<string, KnownTable>;
}

/** Before the first reading, which then reads everything. */
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

/**
 * Adds a reading to what was known when it was made. Types that are no longer used stay known until they
 * are dropped.
 * @see T78, T79
 */
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
