import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { buildCatalogue } from "../../../src/catalogue/build_catalogue.ts";
import { EMPTY_POLICY } from "../../../src/catalogue/policy.ts";
import { countSteps } from "./count_steps.ts";
import { findSchema, findTable } from "./found_schema.ts";

const find = (tables: number) =>
  findSchema(Array.from({ length: tables }, (_, place) => findTable(`t${place}`)));

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
