import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { buildCatalogue, type BuiltCatalogue } from "../../../src/catalogue/build_catalogue.ts";
import type { Introspection } from "../../../src/catalogue/introspection.ts";
import { parsePolicy } from "../../../src/catalogue/policy.ts";
import { findSchema, findTable } from "./found_schema.ts";

const PARSED = parsePolicy(JSON.stringify({
  tables: {
    lines: { tenant_via: { columns: ["deal"], table: "deals" } },
    "public.notes": { name: "remarks", hidden_columns: ["absent"] },
  },
}));
assert("policy" in PARSED);
const OPTIONS = { schemas: ["public"], tenantColumn: "tenant_id", policy: PARSED.policy };

const KEY = {
  schema: "public",
  target: "deals",
  columns: ["deal"],
  targetColumns: ["id"],
  holds: true,
  ofPeriods: false,
  hasTenant: true,
};
const LINES = findTable("lines", { foreignKeys: [KEY] }, ["id", "deal"]);
const FOUND = findSchema([findTable("deals"), findTable("notes"), LINES]);

/** Builds one catalogue after another, and gives the last two. */
async function buildBoth(
  later: Introspection,
  earlier = FOUND,
): Promise<readonly [BuiltCatalogue, BuiltCatalogue]> {
  const before = await buildCatalogue(earlier, OPTIONS);
  const after = await buildCatalogue(later, OPTIONS, before.built);
  const { built: _, ...shared } = after;
  const { built: __, ...anew } = await buildCatalogue(later, OPTIONS);
  assertEquals(shared, anew);
  return [before, after];
}

/** The tables that were taken over. */
async function listKept(later: Introspection, earlier = FOUND): Promise<readonly string[]> {
  const [before, after] = await buildBoth(later, earlier);
  return [...after.catalogue.tables.values()].filter((table) =>
    before.catalogue.tables.get(table.name) === table
  ).map(({ name }) => name);
}

const replace = (place: number, table: Introspection["tables"][number]): Introspection => ({
  ...FOUND,
  tables: FOUND.tables.with(place, table),
});

describe("buildCatalogue, with the tables of the one before", () => {
  it("builds only tables that changed, or belong to others [0012]", async () => {
    assertEquals(await listKept(FOUND), ["deals", "remarks"]);
    assertEquals(await listKept(replace(0, findTable("deals", { comment: "Ours" }))), ["remarks"]);
    assertEquals(await listKept(findSchema([...FOUND.tables, findTable("more")])), []);
    assertEquals(await listKept({ ...FOUND, tables: [...FOUND.tables, findTable("more")] }), [
      "deals",
      "remarks",
    ]);
  });

  it("builds a table again that refers to a changed one [T83] [0012]", async () => {
    const tasks = findTable("tasks", { foreignKeys: [KEY] }, ["id", "tenant_id", "deal"]);
    const earlier = findSchema([findTable("deals"), findTable("notes"), tasks]);
    assertEquals((await listKept(earlier, earlier)).includes("tasks"), true);
    const deals = findTable("deals", { comment: "Ours" });
    const later = { ...earlier, tables: earlier.tables.with(0, deals) };
    assertEquals(await listKept(later, earlier), ["remarks"]);
  });

  it("builds a table again whose tenant is that of a changed one [T57] [0012]", async () => {
    const { columns, ...deals } = FOUND.tables[0]!;
    const closed = columns.map((column) => ({ ...column, select: false }));
    const [before, after] = await buildBoth(replace(0, { ...deals, columns: closed }));
    assertEquals([...before.catalogue.tables.keys()], ["deals", "remarks", "lines"]);
    assertEquals([...after.catalogue.tables.keys()], ["remarks"]);
  });

  it("keeps the warnings of tables that it does not build [0012]", async () => {
    const [before, after] = await buildBoth(replace(0, findTable("deals", { comment: "Ours" })));
    assertEquals(after.warnings, before.warnings);
    assert(before.warnings.join().includes('there is no column "absent"'));
  });

  it("builds all tables where a type or the time zone changed [0012]", async () => {
    const labels = { ...FOUND.types["23"]!, notNull: true };
    assertEquals(await listKept({ ...FOUND, types: { 23: labels } }), []);
    assertEquals(await listKept({ ...FOUND, timeZone: "Asia/Tokyo" }), []);
  });

  it("builds a table again that the policy names otherwise, because another came [T74] [0012]", async () => {
    const parsed = parsePolicy('{"tables": {"b_c": {"read_only": true}}}');
    assert("policy" in parsed);
    const options = { ...OPTIONS, schemas: ["public", "b"], policy: parsed.policy };
    const other = findTable("c", { schema: "b" });
    const earlier = { ...FOUND, tables: [other] };
    const before = await buildCatalogue(earlier, options);
    const later = { ...FOUND, tables: [findTable("b_c"), other] };
    const { built: _, ...shared } = await buildCatalogue(later, options, before.built);
    const { built: __, ...anew } = await buildCatalogue(later, options);
    assertEquals(shared, anew);
    assertEquals(before.catalogue.tables.get("b_c")?.writable, false);
  });
});
