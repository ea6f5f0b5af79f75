import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejectedAt, recordsOf, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const FIRST = { field: "id", op: "eq", value: 1 };

describeSharedService("Query, shape of a query", ({ query, run }) => {
  it("rejects filters that are no group [Q8] [Q9] [Q4] [FS3] [FS4] [FS5]", async () => {
    for (const filters of [{}, null, [], [FIRST], "x", 1, true, FIRST]) {
      const error = assertRejectedAt(await query("guests", { filters }), "filters").slice(0, 80);
      assertEquals(error.startsWith("filters"), true);
    }
  });

  it("rejects a group with both keys or others, at its path [Q7] [Q6] [FS3]", async () => {
    assertRejectedAt(await query("guests", { filters: { and: [], or: [] } }), "filters");
    for (
      const [group, path] of [
        [{ and: [{ and: [FIRST], or: [] }] }, "filters.and[0]"],
        [{ and: [{ not: [FIRST] }] }, "filters.and[0]"],
        [{ and: [FIRST], limit: 1 }, "filters"],
        [{ AND: [FIRST] }, "filters"],
        [{ xor: [FIRST] }, "filters"],
        [{ or: [FIRST, { field: "id", op: "eq", value: 1, and: [] }] }, "filters.or[1]"],
      ] as const
    ) {
      const response = await query("guests", { filters: group });
      assertEquals(response.status, 400, response.text);
      assertEquals(String(response.body["error"]).startsWith(path), true, response.text);
    }
  });

  it("rejects a condition with unknown keys at their path [Q20] [FS11]", async () => {
    for (const key of ["values", "negate", "__proto__", "constructor"]) {
      const condition = { ...FIRST, [key]: 1 };
      assertRejectedAt(
        await query("guests", { filters: { and: [condition] } }),
        `filters.and[0].${key}`,
      );
    }
  });

  it("rejects a condition without field or op at its path [Q17] [Q18] [FS11]", async () => {
    assertRejectedAt(
      await query("guests", { filters: { and: [{ op: "eq", value: 1 }] } }),
      "filters.and[0].field",
    );
    assertRejectedAt(
      await query("guests", { filters: { and: [{ field: "id", value: 1 }] } }),
      "filters.and[0].op",
    );
    for (const field of [1, null, ["id"], {}]) {
      assertRejectedAt(
        await query("guests", { filters: { and: [{ ...FIRST, field }] } }),
        "filters.and[0].field",
      );
    }
  });

  it("takes an empty and for every row, an empty or for none [Q15] [Q16] [FS6]", async () => {
    for (
      const [filters, total] of [
        [{ and: [] }, 5],
        [{ or: [] }, 0],
        [{ and: [{ or: [] }] }, 0],
        [{ or: [{ and: [] }] }, 5],
        [{ and: [{ and: [] }, FIRST] }, 1],
        [{ or: [{ or: [] }, FIRST] }, 1],
        [{ and: [{ or: [] }, FIRST] }, 0],
        [{ or: [{ and: [] }, FIRST] }, 5],
      ] as const
    ) {
      const body = assertOk(await query("guests", { filters }));
      assertEquals(
        [body["total"], (body["records"] as unknown[]).length],
        [total, total],
        JSON.stringify(filters),
      );
    }
  });

  for (const op of ["is_null", "is_not_null"]) {
    it(`rejects ${op} with a value [Q41] [FS12]`, async () => {
      for (const value of [null, true, 1, "x", []]) {
        const response = await query("guests", {
          filters: { and: [{ field: "name", op, value }] },
        });
        assertRejectedAt(response, "filters.and[0].value");
      }
    });
  }

  it("takes an empty select and an empty sort as if left out [Q58] [Q65] [IN20] [FS22]", async () => {
    const [record] = recordsOf(await query("guests", { select: [], sort: [] }));
    assertEquals(Object.keys(record ?? {}), ["id", "tenant_id", "name"]);
  });

  it("returns a column named twice in select once [Q59] [IN20]", async () => {
    const response = await query("guests", {
      select: ["name", "id", "name"],
      sort: [{ field: "id" }],
      per_page: 1,
    });
    assertEquals(recordsOf(response), [{ name: "Guest 1", id: 1 }]);
    assertEquals(response.text.split('"name"').length, 2);
  });

  for (const direction of ["ASC", "Desc", "ascending", "", null, 1, true]) {
    it(`rejects the direction ${JSON.stringify(direction)} [Q63] [Q62] [IN9]`, async () => {
      assertRejectedAt(
        await query("guests", { sort: [{ field: "id", direction }] }),
        "sort[0].direction",
        JSON.stringify(direction),
      );
    });
  }

  it("marks a later page without sort as unstable [Q102]", async () => {
    const orderOf = async (body: object, prefer = "count=none") =>
      (await query("guests", { per_page: 1, ...body }, { headers: { prefer } }))
        .headers.get("rowgate-order");
    assertEquals(await orderOf({ page: 2 }), "unstable");
    assertEquals(await orderOf({ page: 2, sort: [] }), "unstable");
    assertEquals(await orderOf({}), null);
    assertEquals(await orderOf({ page: 2, sort: [{ field: "name" }] }), null);
    assertEquals(await orderOf({ page: 2 }, "page-token"), null);
  });

  it("adds the primary key to the sort, so that paging is stable [Q66] [Q69] [CO12]", async () => {
    const seen: unknown[] = [];
    for (let page = 1; page <= 10; page++) {
      const response = await query("deals", {
        sort: [{ field: "closed" }],
        select: ["fid"],
        page,
        per_page: 6,
      });
      seen.push(...valuesOf(response, "fid"));
      await run(
        "update deals set note = note where tenant_id = 1 and external_no % 10 = " + page % 10,
      );
    }
    const numbers = Array.from({ length: 60 }, (_, n) => n + 1);
    const closed = (n: number) => n % 4 === 1 || n % 4 === 2;
    assertEquals(seen, [...numbers.filter((n) => !closed(n)), ...numbers.filter(closed)]);
  });

  it("sorts nulls as Postgres does: last ascending, first descending [Q67] [Q62]", async () => {
    const up = await query("deals", {
      sort: [{ field: "amount" }],
      select: ["amount"],
      per_page: 200,
    });
    assertEquals(valuesOf(up, "amount").slice(-8), Array(8).fill(null));
    const down = await query("deals", {
      sort: [{ field: "amount", direction: "desc" }],
      select: ["amount"],
      per_page: 8,
    });
    assertEquals(valuesOf(down, "amount"), Array(8).fill(null));
  });

  it("takes a column named twice in sort [FS22]", async () => {
    const sort = [{ field: "id", direction: "desc" }, { field: "id", direction: "asc" }];
    const response = await query("guests", { sort });
    if (response.status !== 400) assertEquals(valuesOf(response, "id"), [5, 4, 3, 2, 1]);
    else assertRejectedAt(response, "sort[1].field");
  });

  it("takes a sort of a hundred items [FS22]", async () => {
    const sort = Array.from({ length: 100 }, (_, n) => ({ field: n % 2 ? "id" : "name" }));
    assertEquals(valuesOf(await query("guests", { sort }), "id"), [1, 2, 3, 4, 5]);
  });

  it("takes per_page 1.0 as 1 [FS21]", async () => {
    const response = await query("guests", undefined, { raw: '{"per_page": 1.0}' });
    assertEquals([assertOk(response)["per_page"], recordsOf(response).length], [1, 1]);
  });

  for (const member of ["page", "per_page"]) {
    for (const value of [0, -1, 1.5, "1", null, true, [1], {}, "x"]) {
      it(`rejects ${member} ${JSON.stringify(value)} [Q72] [Q78] [Q4] [FS18] [FS21]`, async () => {
        assertRejectedAt(await query("guests", { [member]: value }), member);
      });
    }

    it(`rejects a ${member} that no integer holds [Q72] [Q78]`, async () => {
      const response = await query("guests", undefined, { raw: `{"${member}": 1e400}` });
      assertRejectedAt(response, member);
    });
  }

  it("responds to a page past the end with no records and the true total [Q73] [FS19]", async () => {
    for (const page of [2, 3, 1000000, 9007199254740]) {
      const body = assertOk(await query("guests", { page, per_page: 5 }));
      assertEquals([body["records"], body["total"], body["page"]], [[], 5, page]);
    }
  });

  it("responds to the greatest page number [Q73]", async () => {
    const response = await query("guests", { page: 9007199254740991, per_page: 200 });
    if (response.status === 400) assertRejectedAt(response, "page");
    else assertEquals(assertOk(response)["total"], 5);
  });

  it("makes total null for Prefer count=none, and says so [Q88]", async () => {
    const response = await query("deals", { per_page: 10 }, { headers: { prefer: "count=none" } });
    const body = assertOk(response);
    assertEquals([body["total"], (body["records"] as unknown[]).length], [null, 10]);
    assertEquals(response.headers.get("preference-applied"), "count=none");
    assertEquals((await query("deals")).headers.get("preference-applied"), null);
  });
}, { writes: "rows" });
