import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejectedAt, recordsOf, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

describeSharedService("Query Records", ({ query }) => {
  it("responds to an empty object with the first 50 rows and nothing but its members [Q2] [Q5] [Q71] [Q75] [Q81] [Q82] [Q83] [Q84] [Q86] [Q80] [FS1]", async () => {
    const body = assertOk(await query("deals", {}));
    assertEquals(Object.keys(body).sort(), [
      "page",
      "per_page",
      "records",
      "success",
      "table",
      "total",
    ]);
    assertEquals([body["table"], body["page"], body["per_page"], body["total"]], [
      "deals",
      1,
      50,
      60,
    ]);
    assertEquals((body["records"] as unknown[]).length, 50);
  });

  it("returns all columns without select [Q57]", async () => {
    const [record] = recordsOf(await query("order_lines", { per_page: 1 }));
    assertEquals(Object.keys(record ?? {}), [
      "tenant_id",
      "order_no",
      "line_no",
      "product",
      "quantity",
      "price",
    ]);
  });

  it("returns only the columns of select, in its order [Q56]", async () => {
    const records = recordsOf(await query("deals", { select: ["title", "fid"], per_page: 3 }));
    for (const record of records) assertEquals(Object.keys(record), ["title", "fid"]);
  });

  it("filters and sorts by columns that are not selected [Q56]", async () => {
    const records = recordsOf(
      await query("deals", {
        filters: { and: [{ field: "status", op: "eq", value: "won" }] },
        select: ["title"],
        sort: [{ field: "fid", direction: "desc" }],
        per_page: 1,
      }),
    );
    assertEquals(records, [{ title: `Deal 57 "50%_off" \\ 'quoted'` }]);
  });

  it("sorts ascending when no direction is given [Q64]", async () => {
    const response = await query("deals", {
      select: ["fid"],
      sort: [{ field: "fid" }],
      per_page: 3,
    });
    assertEquals(valuesOf(response, "fid"), [1, 2, 3]);
  });

  it("sorts by several items, each in its own direction [Q60] [Q62]", async () => {
    const records = recordsOf(
      await query("deals", {
        select: ["status", "fid"],
        sort: [{ field: "status", direction: "desc" }, { field: "fid", direction: "asc" }],
        per_page: 200,
      }),
    );
    const keys = records.map((record) =>
      [String(record["status"]), Number(record["fid"])] as const
    );
    const wanted = [...keys].sort((a, b) => a[0] < b[0] ? 1 : a[0] > b[0] ? -1 : a[1] - b[1]);
    assertEquals(keys, wanted);
  });

  it("reports the total of the filters across all pages [Q85] [Q70] [Q74] [Q83] [Q84]", async () => {
    const body = assertOk(
      await query("deals", {
        filters: { and: [{ field: "status", op: "eq", value: "won" }] },
        per_page: 4,
        page: 2,
      }),
    );
    assertEquals([body["total"], body["page"], body["per_page"]], [15, 2, 4]);
    assertEquals((body["records"] as unknown[]).length, 4);
  });

  it("lets a client page through all rows until total says that it is done [Q79]", async () => {
    const seen: unknown[] = [];
    for (let page = 1, total = Infinity; (page - 1) * 7 < total; page++) {
      const response = await query("deals", {
        sort: [{ field: "title" }],
        select: ["fid"],
        page,
        per_page: 7,
      });
      seen.push(...valuesOf(response, "fid"));
      total = Number(response.body["total"]);
    }
    assertEquals(seen.length, 60);
    assertEquals(new Set(seen).size, 60);
  });

  it("gives a poller each changed row once, by gt on the modification time it was given [Q91] [Q89] [Q90]", async () => {
    const seen: unknown[] = [];
    let last = "2026-01-01T00:00:00Z";
    for (;;) {
      const records = recordsOf(
        await query("deals", {
          filters: { and: [{ field: "modified_at", op: "gt", value: last }] },
          sort: [{ field: "modified_at" }],
          select: ["fid", "modified_at"],
          per_page: 7,
        }),
      );
      if (records.length === 0) break;
      for (const record of records) seen.push(record["fid"]);
      last = String(records.at(-1)?.["modified_at"]);
      assert(seen.length <= 60, "the same row again");
    }
    assertEquals(seen, Array.from({ length: 60 }, (_, n) => n + 1));
  });

  for (const key of ["per_pge", "limit", "Filters", "__proto__", "table", ""]) {
    it(`rejects the top-level key ${JSON.stringify(key)} [Q3] [E21] [FS2]`, async () => {
      assertRejectedAt(await query("deals", { [key]: 10 }), key === "" ? '[""]' : key);
    });
  }

  it("names per_page for a misspelled per_page [Q3] [E12]", async () => {
    assertRejectedAt(await query("deals", { per_pag: 10 }), "per_pag", '"per_page"');
  });

  for (const member of ["select", "sort"]) {
    for (const value of [null, "fid", {}, 1]) {
      it(`rejects ${member} ${JSON.stringify(value)} [Q4]`, async () => {
        assertRejectedAt(await query("deals", { [member]: value }), member);
      });
    }
  }

  it("rejects select and sort items of the wrong kind at their path [Q4] [Q61]", async () => {
    assertRejectedAt(await query("deals", { select: ["fid", 1] }), "select[1]");
    assertRejectedAt(await query("deals", { sort: [{ field: "fid" }, "title"] }), "sort[1]");
    assertRejectedAt(await query("deals", { sort: [{ direction: "asc" }] }), "sort[0].field");
    assertRejectedAt(
      await query("deals", { sort: [{ field: "fid", nulls: "last" }] }),
      "sort[0].nulls",
    );
  });

  it("rejects a column that does not exist, wherever it is named [E10] [E5] [E17]", async () => {
    const filters = {
      and: [{ field: "fid", op: "eq", value: 1 }, { or: [{ field: "titel", op: "is_null" }] }],
    };
    assertRejectedAt(
      await query("deals", { filters }),
      "filters.and[1].or[0].field",
      '"titel"',
      '"title"',
    );
    assertRejectedAt(
      await query("deals", { select: ["titel"] }),
      "select[0]",
      '"titel"',
      '"title"',
    );
    assertRejectedAt(
      await query("deals", { sort: [{ field: "titel" }] }),
      "sort[0].field",
      '"titel"',
      '"title"',
    );
  });

  for (const body of [null, [], "x", 1, true]) {
    it(`rejects a body that is ${JSON.stringify(body)} [Q1] [HT10]`, async () => {
      assertRejectedAt(
        await query("deals", null, { raw: JSON.stringify(body), body: undefined }),
        "body",
      );
    });
  }
});
