import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejected, assertRejectedAt } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const good = { field: "fid", op: "eq", value: 1 };

/** Body of a query of `deals` with one fault, and the path that must be named. */
const FAULTS: readonly [unknown, string][] = [
  [
    { filters: { and: [good, { or: [good, { ...good, op: "in", value: [1, 2, {}] }] }] } },
    "filters.and[1].or[1].value[2]",
  ],
  [
    { filters: { and: [good, { or: [{ ...good, field: "nope" }] }] } },
    "filters.and[1].or[0].field",
  ],
  [
    { filters: { or: [{ and: [{ or: [{ and: [{ ...good, op: "is" }] }] }] }] } },
    "filters.or[0].and[0].or[0].and[0].op",
  ],
  [{ sort: [{ field: "nope" }] }, "sort[0].field"],
  [{ sort: [{ field: "fid" }, { field: "title", direction: "up" }] }, "sort[1].direction"],
  [{ select: ["fid", "title", "note", "nope"] }, "select[3]"],
  [{ per_page: 0 }, "per_page"],
  [{ page: "1" }, "page"],
  [{ filters: { and: [{ ...good, value: "x" }] } }, "filters.and[0].value"],
  [
    { filters: { and: [{ field: "stage", op: "in", value: ["won", "wan"] }] } },
    "filters.and[0].value[1]",
  ],
  [{
    filters: { and: [{ field: "created_on", op: "between", value: ["2026-01-01", "2026-99-01"] }] },
  }, "filters.and[0].value[1]"],
];

describeSharedService("Errors", ({ kind, query, single, bulk, get, service }) => {
  for (const [body, path] of FAULTS) {
    it(`names ${path}, the client's own path [E5]`, async () => {
      const error = assertRejectedAt(await query("deals", body), path);
      assert(!error.includes("; "), error);
    });
  }

  it("reads path: what is wrong, what was expected [E4]", async () => {
    for (const [body] of FAULTS) {
      const error = String((await query("deals", body)).body["error"]);
      assertMatch(error, /^[a-z_.[\]0-9]+: \S.*, ?\S/, error);
    }
  });

  it("shows the value, strings quoted, cut at 100 characters [E6]", async () => {
    const long = "x".repeat(500);
    const error = assertRejectedAt(
      await query("deals", { select: [`${long}-`] }),
      "select[0]",
      '"xxx',
    );
    assert(error.includes("x".repeat(90)) && !error.includes("x".repeat(101)), error);
    const value = assertRejectedAt(
      await query("deals", { filters: { and: [{ ...good, value: long }] } }),
      "filters.and[0].value",
    );
    assert(!value.includes("x".repeat(101)), value);
    assertRejectedAt(await query("deals", { per_page: -5 }), "per_page", "-5");
  });

  it("reports several faults in one message, joined by ; in document order [E7] [E9]", async () => {
    const raw =
      `{"per_page": 0, "sort": [{"field": "fid", "direction": "up"}], "pages": 1, "filters": {"and": [{"field": "fid", "op": "is", "value": 1}]}}`;
    const error = assertRejected(await query("deals", undefined, { raw }), 400);
    const positions = ["per_page: ", "; sort[0].direction: ", "; pages: ", "; filters.and[0].op: "]
      .map((part) => error.indexOf(part));
    assert(
      positions.every((position, n) =>
        position >= 0 && (n === 0 || position > (positions[n - 1] ?? 0))
      ),
      error,
    );
  });

  it("reports five faults at most [E8]", async () => {
    const error = assertRejected(
      await query("deals", { select: ["a1", "a2", "a3", "a4", "a5", "a6", "a7"] }),
      400,
    );
    for (const n of [0, 1, 2, 3, 4]) assert(error.includes(`select[${n}]: `), error);
    assert(!error.includes("select[5]"), error);
  });

  it("reports several faults of an update, filters and fields, in document order [E7] [E9]", async () => {
    const raw = `{"fields": {"nope": 1, "fid": 2}, "filters": {"amount": "x", "status": [1]}}`;
    for (const update of [single, bulk]) {
      const error = assertRejected(await update("deals", undefined, { raw }), 400);
      assert(error.length > 0 && !error.startsWith("filters.amount"), error);
    }
    const names = `{"fields": {"nope": 1, "fid": 2}, "filters": {"amount": "x"}}`;
    for (const update of [single, bulk]) {
      const error = assertRejected(await update("deals", undefined, { raw: names }), 400);
      const positions = ["fields.nope: ", "; fields.fid: ", "; filters.amount: "].map((part) =>
        error.indexOf(part)
      );
      assert(
        positions.every((position, n) =>
          position >= 0 && (n === 0 || position > (positions[n - 1] ?? 0))
        ),
        error,
      );
    }
  });

  it("names the nearest column, operator or key when one is near [E10] [E11] [E12]", async () => {
    assertRejected(await query("deals", { select: ["externl_no"] }), 400, '"external_no"');
    assertRejected(
      await query("deals", { filters: { and: [{ ...good, op: "beetween" }] } }),
      400,
      '"between"',
    );
    assertRejected(
      await query("deals", { filters: { and: [{ fild: "fid", op: "eq", value: 1 }] } }),
      400,
      '"field"',
    );
    assertRejected(await query("deals", { filter: { and: [] } }), 400, '"filters"');
    assertRejected(
      await query("deals", { sort: [{ field: "fid", directon: "asc" }] }),
      400,
      '"direction"',
    );
    assertRejected(
      await single("deals", { filters: { fid: 1 }, fields: { modifed_at: null } }),
      400,
      '"modified_at"',
    );
  });

  it("names none when none is near [E10]", async () => {
    const error = assertRejectedAt(
      await query("deals", { select: ["zzzzzzzz"] }),
      "select[0]",
      '"zzzzzzzz"',
    );
    for (const name of ["fid", "title", "status", "amount"]) {
      assert(!error.includes(`"${name}"`), error);
    }
  });

  it("carries a request id in every response, the client's own when it is well formed [E46] [E47]", async () => {
    const ids = new Set<string>();
    for (
      const response of [
        await query("deals"),
        await query("dealz"),
        await get("/nowhere"),
        await get("/livez"),
        await query("deals", {}, { token: null }),
        await get("/integration/tables/deals/query"),
      ]
    ) {
      const id = response.headers.get("x-request-id") ?? "";
      assert(id.length >= 8, id);
      ids.add(id);
    }
    assertEquals(ids.size, 6);
    for (const id of ["order-77_A.b", "0d29ca46-3d02-427d-82ba-d486744e0e36"]) {
      const response = await query("deals", {}, { headers: { "x-request-id": id } });
      assertEquals(response.headers.get("x-request-id"), id);
    }
    for (
      const id of ["a b", "x".repeat(500), '"><script>', "ü".normalize("NFD").slice(0, 1) + "{}"]
    ) {
      const given = (await query("deals", {}, { headers: { "x-request-id": id } })).headers.get(
        "x-request-id",
      );
      assert(given !== null && given !== id, id);
    }
  });

  it("sends only success and error in an error, as JSON that no proxy caches [HT22]", async () => {
    const response = await query("dealz");
    assertEquals(Object.keys(response.body), ["success", "error"]);
    assertMatch(response.headers.get("cache-control") ?? "", /no-store/);
  });

  it("logs no token and no value [A25]", async () => {
    await single("deals", { filters: { title: "PRIVATE-VALUE" }, fields: { note: "x" } });
    assertOk(
      await query("deals", {
        filters: { and: [{ field: "title", op: "eq", value: "PRIVATE-VALUE" }] },
      }),
    );
    const reported = JSON.stringify(service().observations);
    assert(!reported.includes("PRIVATE-VALUE") && !reported.includes(service().tokens.a), kind);
  });
});
