import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertRejectedAt, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const NUMBERS = Array.from({ length: 60 }, (_, n) => n + 1);

/** Each operator with the deals it must find. */
const MEANINGS: readonly [unknown, (n: number) => boolean][] = [
  [{ field: "fid", op: "eq", value: 7 }, (n) => n === 7],
  [{ field: "fid", op: "neq", value: 7 }, (n) => n !== 7],
  [{ field: "fid", op: "gt", value: 50 }, (n) => n > 50],
  [{ field: "fid", op: "gte", value: 50 }, (n) => n >= 50],
  [{ field: "fid", op: "lt", value: 5 }, (n) => n < 5],
  [{ field: "fid", op: "lte", value: 5 }, (n) => n <= 5],
  [{ field: "title", op: "like", value: "Deal 1%" }, (n) => String(n).startsWith("1")],
  [{ field: "title", op: "not_like", value: "Deal 1%" }, (n) => !String(n).startsWith("1")],
  [{ field: "status", op: "in", value: ["won", "lost"] }, (n) => n % 4 === 1 || n % 4 === 2],
  [{ field: "status", op: "not_in", value: ["won", "lost"] }, (n) => n % 4 === 0 || n % 4 === 3],
  [{ field: "fid", op: "between", value: [10, 12] }, (n) => n >= 10 && n <= 12],
  [{ field: "fid", op: "between", value: [12, 10] }, () => false],
  [{ field: "amount", op: "is_null" }, (n) => n % 7 === 0],
  [{ field: "amount", op: "is_not_null" }, (n) => n % 7 !== 0],
  [{ field: "closed", op: "eq", value: true }, (n) => n % 4 === 1 || n % 4 === 2],
  [{ field: "created_on", op: "lt", value: "2025-06-04" }, (n) => n < 3],
  [{ field: "modified_at", op: "gt", value: "2026-01-03T19:00:00Z" }, (n) => n >= 59],
];

const WRONG_SHAPES: readonly [string, unknown, string][] = [
  ["eq", [1], "value"],
  ["eq", { gt: 1 }, "value"],
  ["neq", {}, "value"],
  ["gt", [1], "value"],
  ["gte", { a: 1 }, "value"],
  ["lt", [], "value"],
  ["lte", {}, "value"],
  ["like", 1, "value"],
  ["like", ["a"], "value"],
  ["like", true, "value"],
  ["not_like", {}, "value"],
  ["in", 1, "value"],
  ["in", "1", "value"],
  ["in", { 0: 1 }, "value"],
  ["in", [1, [2]], "value[1]"],
  ["in", [1, 2, { a: 1 }], "value[2]"],
  ["not_in", true, "value"],
  ["not_in", [{}], "value[0]"],
  ["between", 5, "value"],
  ["between", "1,2", "value"],
  ["between", { 0: 1, 1: 2 }, "value"],
  ["between", [1, [2]], "value[1]"],
  ["between", [{}, 2], "value[0]"],
];

describeSharedService("Query, operators", ({ query }) => {
  for (const [condition, wanted] of MEANINGS) {
    it(`finds the rows of ${JSON.stringify(condition)} [Q21] [Q22] [Q23] [Q24] [Q25] [Q26] [Q27] [Q28] [Q29] [Q30] [Q31] [Q32] [Q33] [Q40] [Q89]`, async () => {
      const response = await query("deals", {
        filters: { and: [condition] },
        select: ["fid"],
        sort: [{ field: "fid" }],
        per_page: 200,
      });
      assertEquals(valuesOf(response, "fid"), NUMBERS.filter(wanted));
      assertEquals(response.body["total"], NUMBERS.filter(wanted).length);
    });
  }

  for (const [op, value, path] of WRONG_SHAPES) {
    it(`rejects ${op} with ${JSON.stringify(value)} [Q36] [Q37] [Q38] [Q39] [Q35] [E20] [FS14] [FS15] [FS16] [FS17]`, async () => {
      const response = await query("deals", { filters: { or: [{ field: "fid", op, value }] } });
      assertRejectedAt(response, `filters.or[0].${path}`);
    });
  }

  for (
    const op of [
      "eq",
      "neq",
      "gt",
      "gte",
      "lt",
      "lte",
      "like",
      "not_like",
      "in",
      "not_in",
      "between",
    ]
  ) {
    it(`rejects ${op} without a value [Q19] [E20] [FS13]`, async () => {
      const response = await query("deals", { filters: { and: [{ field: "title", op }] } });
      assertRejectedAt(response, "filters.and[0].value");
    });
  }

  for (
    const op of [
      "EQ",
      "=",
      "similar_to",
      "isnull",
      "",
      "constructor",
      "__proto__",
      "toString",
      null,
      1,
    ]
  ) {
    it(`rejects the operator ${JSON.stringify(op)} [Q18] [E19] [IN8]`, async () => {
      const response = await query("deals", { filters: { and: [{ field: "fid", op, value: 1 }] } });
      assertRejectedAt(response, "filters.and[0].op", JSON.stringify(op));
    });
  }

  it("combines nested groups by the rules of logic [Q12] [Q13] [Q14]", async () => {
    const filters = {
      and: [
        { field: "fid", op: "lte", value: 20 },
        {
          or: [
            { field: "status", op: "eq", value: "won" },
            {
              and: [{ field: "closed", op: "eq", value: false }, {
                field: "fid",
                op: "gt",
                value: 15,
              }],
            },
          ],
        },
      ],
    };
    const response = await query("deals", { filters, select: ["fid"], sort: [{ field: "fid" }] });
    const closed = (n: number) => n % 4 === 1 || n % 4 === 2;
    assertEquals(
      valuesOf(response, "fid"),
      NUMBERS.filter((n) => n <= 20 && (n % 4 === 1 || (!closed(n) && n > 15))),
    );
  });

  it("rejects a group that has no array [Q10]", async () => {
    for (const value of [{ field: "fid", op: "eq", value: 1 }, null, "x", 1]) {
      assertRejectedAt(await query("deals", { filters: { and: value } }), "filters.and");
    }
  });

  it("rejects items that are neither a condition nor a group [Q11]", async () => {
    for (const item of [null, 1, "fid = 1", [], [{ field: "fid", op: "eq", value: 1 }], {}]) {
      assertRejectedAt(
        await query("deals", { filters: { and: [{ field: "fid", op: "eq", value: 1 }, item] } }),
        "filters.and[1]",
      );
    }
  });
});
