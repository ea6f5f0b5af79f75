import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { buildCatalogue } from "../../../src/catalogue/build_catalogue.ts";
import type { FoundTable, Introspection } from "../../../src/catalogue/introspection.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";
import { countSteps } from "./count_steps.ts";

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

async function countBuilding(tables: number): Promise<number> {
  const found = find(tables);
  const options = { schemas: ["public"], tenantColumn: "tenant_id", policy: EMPTY_POLICY };
  return await countSteps(async () => {
    const { catalogue } = await buildCatalogue(found, options);
    assertEquals(catalogue.tables.size, tables);
  });
}

/** What a catalogue does that makes an index of all tables for each of them. */
async function countSquare(tables: number): Promise<number> {
  const { tables: found } = find(tables);
  return await countSteps(() => {
    for (const _ of found) new Map(found.map((table) => [table.name, table]));
  });
}

describe("buildCatalogue", () => {
  it("goes through each table as often, however many there are [T42]", async () => {
    const few = await countBuilding(50);
    const many = await countBuilding(500);
    assert(few > 50 && many < 11 * few, `${few} steps for 50 tables, ${many} for 500`);
    // So that it can fail.
    assert(await countSquare(500) > 90 * await countSquare(50));
  });
});
