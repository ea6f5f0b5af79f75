import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { buildCatalogue } from "../../../src/catalogue/build_catalogue.ts";
import type { FoundTable, Introspection } from "../../../src/catalogue/introspection.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";

const INT4 = {
  ...{ schema: "pg_catalog", name: "int4", kind: "b", category: "N", base: null, modifier: -1 },
  ...{ modified: null, notNull: false, element: null, labels: null, equality: true, order: true },
};

function table(name: string): FoundTable {
  const columns = ["id", "tenant_id", "value"].map((name, place) => ({
    ...{ number: place + 1, name, type: "23", modifier: -1, modified: null, notNull: true },
    ...{ generated: false, identity: false, select: true, update: true, deterministic: true },
    comment: null,
  }));
  return {
    ...{ name, schema: "public", kind: "r", comment: null, pinnable: true, feed: null },
    ...{ hasRewriteRules: false, hasChildTables: false, engines: null, updatable: true },
    ...{ key: [1], foreignKeys: [], indexes: [], unique: [], columns },
  };
}

function find(tables: number): Introspection {
  return {
    ...{ usable: ["public"], timeZone: "UTC", distributes: false, credentialTables: [] },
    types: { 23: INT4 },
    tables: Array.from({ length: tables }, (_, place) => table(`t${place}`)),
  };
}

async function measure(tables: number): Promise<number> {
  const found = find(tables);
  const startedMs = performance.now();
  const options = { schemas: ["public"], tenantColumn: "tenant_id", policy: EMPTY_POLICY };
  const { catalogue } = await buildCatalogue(found, options);
  assertEquals(catalogue.tables.size, tables);
  return performance.now() - startedMs;
}

describe("buildCatalogue", () => {
  it("takes time in proportion to the number of tables [T42]", async () => {
    await measure(500);
    const few = Math.min(await measure(500), await measure(500));
    const many = await measure(5000);
    // Ten times as many; in proportion to the square it would be a hundred times as long.
    assert(many < 35 * few + 50, `${few} ms for 500 tables, ${many} ms for 5,000`);
  });
});
