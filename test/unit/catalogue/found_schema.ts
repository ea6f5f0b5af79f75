import type { FoundTable, Introspection } from "../../../src/catalogue/introspection.ts";

const INT4 = {
  ...{ schema: "pg_catalog", name: "int4", kind: "b", category: "N", base: null, modifier: -1 },
  ...{ modified: null, notNull: false, element: null, labels: null, equality: true, order: true },
  hasDefault: false,
};

/** Nothing that the role may do. */
export const NOT_GRANTED = {
  ...{ granted: false, possible: true, hasRewriteRules: false, early: false, late: false },
};

/** A table as an introspection finds it; all columns are of type int4. */
export function findTable(
  name: string,
  parts: Partial<FoundTable> = {},
  columns: readonly string[] = ["id", "tenant_id", "value"],
): FoundTable {
  return {
    ...{ name, schema: "public", kind: "r", comment: null, pinnable: true, feed: null },
    ...{
      hasRewriteRules: false,
      hasChildTables: false,
      keyIsValid: true,
      engines: null,
      updatable: true,
    },
    ...{ early: false, late: false, inserts: NOT_GRANTED, deletes: NOT_GRANTED },
    ...{ key: [1], foreignKeys: [], indexes: [], unique: [] },
    columns: columns.map((column, place) => ({
      ...{ number: place + 1, name: column, type: "23", modifier: -1, modified: null },
      ...{ notNull: true, generated: false, identity: false, select: true, update: true },
      ...{ deterministic: true, comment: null },
      ...{ insert: false, mandatory: true, hasDefault: false },
    })),
    ...parts,
  };
}

/** What an introspection finds in the schema public. */
export function findSchema(tables: readonly FoundTable[]): Introspection {
  return {
    ...{ usable: ["public"], timeZone: "UTC", distributes: false, credentialTables: [] },
    ...{ types: { 23: INT4 }, tables },
  };
}
