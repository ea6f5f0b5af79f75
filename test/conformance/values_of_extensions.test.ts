import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejectedAt, recordsOf } from "./assert_response.ts";
import { waitUntil } from "../support/wait_until.ts";
import { describeService } from "./describe_service.ts";

describeService("Values, types of extensions", ({ kind, query, single, get, run }) => {
  const ask = (field: string, op: string, value: unknown) =>
    query("extended", { filters: { and: [{ field, op, value }] }, select: ["id"] });

  /** Reports whether the database could make a table with hstore and ltree columns. */
  async function make(): Promise<boolean> {
    const names = "('hstore', 'ltree')";
    if ((await run(`select 1 from pg_available_extensions where name in ${names}`)).length < 2) {
      return false;
    }
    await run(`create extension if not exists hstore; create extension if not exists ltree;
      create table if not exists extended (id int4 primary key, tenant_id int4 not null, h hstore, l ltree);
      insert into extended values (1, 1, 'a=>1', 'a.b') on conflict do nothing;
      grant select, update (h, l) on extended to rowgate_app`);
    await waitUntil(async () => (await query("extended")).status !== 404);
    return true;
  }

  // PGlite brings no extensions of its own accord.
  if (kind === "embedded") {
    return void it("serves without extensions", async () => void assertOk(await query("guests")));
  }

  it("finds by values of the types of extensions [V4]", async () => {
    if (!await make()) return;
    for (const [field, value] of [["h", '"a"=>"1"'], ["l", "a.b"]] as const) {
      assertEquals(recordsOf(await ask(field, "eq", value)), [{ id: 1 }]);
      assertEquals(recordsOf(await ask(field, "in", [value, null])), [{ id: 1 }]);
      assertEquals(recordsOf(await ask(field, "neq", value)), []);
      assertEquals(
        assertOk(
          await single("extended", { filters: { [field]: value }, fields: { [field]: value } }),
        )["updated"],
        0,
      );
    }
    assertEquals(recordsOf(await ask("l", "between", ["a", "b"])), [{ id: 1 }]);
  });

  it("knows which operators a type of an extension has [T50]", async () => {
    if (!await make()) return;
    const { fields } = assertOk(await get("/integration/tables/extended/fields"));
    for (const { name, operators } of fields as { name: string; operators: string[] }[]) {
      if (name !== "h" && name !== "l") continue;
      for (const op of ["gt", "gte", "lt", "lte"]) {
        const response = await ask(name, op, name === "h" ? "a=>1" : "a.b");
        if (operators.includes(op)) assertOk(response);
        else assertRejectedAt(response, "filters.and[0].op", name === "h" ? "hstore" : "ltree");
      }
    }
  });

  for (const [field, value] of [["h", "a=>"], ["l", "a..b"]] as const) {
    it(`traces ${JSON.stringify(value)} back to its path, which only the extension can reject [E33]`, async () => {
      if (!await make()) return;
      assertRejectedAt(await ask(field, "eq", value), "filters.and[0].value");
      assertRejectedAt(await ask(field, "in", [null, value]), "filters.and[0].value[1]");
      assertRejectedAt(
        await single("extended", { filters: { id: 1, [field]: value }, fields: { [field]: null } }),
        `filters.${field}`,
      );
      assertRejectedAt(
        await single("extended", { filters: { id: 1 }, fields: { [field]: value } }),
        `fields.${field}`,
      );
    });
  }
});
