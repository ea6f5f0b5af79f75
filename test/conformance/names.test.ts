import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import {
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
  valuesOf,
} from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const RESERVED = [
  "select",
  "user",
  "constructor",
  "__proto__",
  "toString",
  "hasOwnProperty",
  "Name",
  "name",
];
const SHORT = ["x", "m", "k", "u", "i", "v", "o", "r", "n", "t", "c", "p", "ch", "order"];

/** An object with one own key, even when that key is `__proto__`. */
function pair(key: string, value: unknown): Record<string, unknown> {
  return { [key]: value };
}

describeSharedService("Names", ({ query, single, bulk, run }) => {
  it("reads a record as an object of column name to value [S11]", async () => {
    const [record] = recordsOf(
      await query("guests", { filters: { and: [{ field: "id", op: "eq", value: 3 }] } }),
    );
    assertEquals(record, { id: 3, tenant_id: 1, name: "Guest 3" });
  });

  for (const field of [...RESERVED, ...SHORT]) {
    it(`filters, selects and sorts by a column named ${field} [N5] [IN5]`, async () => {
      const all = recordsOf(
        await query("order", { select: ["id", field], sort: [{ field: "id" }] }),
      );
      assertEquals(all.length, 8);
      const value = Object.getOwnPropertyDescriptor(all[4], field)?.value;
      const found = await query("order", {
        filters: { and: [{ field, op: "eq", value }] },
        select: ["id"],
        sort: [{ field, direction: "desc" }],
      });
      assertEquals(recordsOf(found), [{ id: 5 }]);
    });

    it(`updates a column named ${field}, and by it [N5] [IN5]`, async () => {
      const text = RESERVED.includes(field);
      const value = text ? `new ${field}` : 7000;
      const set = await single("order", { filters: { id: 6 }, fields: pair(field, value) });
      assertEquals(assertOk(set)["updated"], 1);
      const stored = await run(`select id from "order" where "${field}" = '${value}'`);
      assertEquals(stored.map((row) => row["id"]), [6]);
      const other = text ? `other ${field}` : 8000;
      const again = await bulk("order", {
        filters: pair(field, value),
        fields: pair(field, other),
      });
      assertEquals(assertOk(again)["updated"], 1);
      assertEquals((await run(`select 1 from "order" where "${field}" = '${other}'`)).length, 1);
    });
  }

  it("distinguishes names by case [N3] [IN6]", async () => {
    assertEquals(
      valuesOf(
        await query("MixedCase", { select: ["Value"], sort: [{ field: "Id" }] }),
        "Value",
      )[0],
      "Value 1",
    );
    assertEquals(
      valuesOf(
        await query("MixedCase", { select: ["value"], sort: [{ field: "Id" }] }),
        "value",
      )[0],
      "value 1",
    );
    assertRejected(await query("mixedcase"), 404);
    assertRejectedAt(await query("MixedCase", { select: ["id"] }), "select[0]", '"id"', '"Id"');
  });

  it("takes a name of 63 characters [N4]", async () => {
    const field = "a23456789_123456789_123456789_123456789_123456789_123456789_abc";
    assertEquals(
      recordsOf(await query("MixedCase", { filters: { and: [{ field, op: "gte", value: 4 }] } }))
        .length,
      2,
    );
  });

  for (
    const field of ["bad-col", "naïve", "a b", "", "good;", "good\n", 'good"', "tenant_id.good"]
  ) {
    it(`rejects the column name ${JSON.stringify(field)} wherever a query names one [N2] [E18]`, async () => {
      const filters = { and: [{ field, op: "is_null" }] };
      assertRejectedAt(
        await query("oddities", { filters }),
        "filters.and[0].field",
        JSON.stringify(field),
      );
      assertRejectedAt(
        await query("oddities", { select: ["good", field] }),
        "select[1]",
        JSON.stringify(field),
      );
      assertRejectedAt(
        await query("oddities", { sort: [{ field }] }),
        "sort[0].field",
        JSON.stringify(field),
      );
    });
  }

  it("shows no column that the pattern cannot name [N2]", async () => {
    assertEquals(recordsOf(await query("oddities")), [{ id: 1, tenant_id: 1, good: "good" }]);
  });

  for (
    const table of ["weird%20name", "bad-table", "naïve", "a.b", "%27", "public.deals", "deals%00"]
  ) {
    it(`rejects the table name ${table} at its path [N1] [E18] [IN1] [IN2]`, async () => {
      assertRejectedAt(await query(table), "table");
      assertRejectedAt(await single(table, { filters: { id: 1 }, fields: { good: "x" } }), "table");
      assertRejectedAt(await bulk(table, { filters: { id: 1 }, fields: { good: "x" } }), "table");
    });
  }
}, { writes: "rows" });
