import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertRejectedAt, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const NUMBERS = Array.from({ length: 60 }, (_, n) => n + 1);
// stage is NULL where n % 9 is 0, else by n % 5: 0 lead, 1 qualified, 2 offer, 3 won, 4 lost.
const none = (n: number) => n % 9 === 0;
const lead = (n: number) => !none(n) && n % 5 === 0;

const MEANINGS: readonly [string, unknown, (n: number) => boolean][] = [
  ["eq null means IS NULL [Q42] [TV26]", { op: "eq", value: null }, none],
  ["neq null means IS NOT NULL [Q43] [TV26]", { op: "neq", value: null }, (n) => !none(n)],
  [
    "null in `in` adds or is null [Q44] [TV26]",
    { op: "in", value: ["lead", null] },
    (n) => none(n) || lead(n),
  ],
  ["`in` of null alone finds the NULLs", { op: "in", value: [null] }, none],
  [
    "null in not_in adds and is not null [Q45] [TV26]",
    { op: "not_in", value: ["lead", null] },
    (n) => !none(n) && !lead(n),
  ],
  ["not_in of null alone finds the others", { op: "not_in", value: [null] }, (n) => !none(n)],
  ["`in` without null leaves NULLs out", { op: "in", value: ["lead"] }, lead],
  [
    "neq leaves NULLs out [Q47] [TV27]",
    { op: "neq", value: "lead" },
    (n) => !none(n) && !lead(n),
  ],
  [
    "not_in leaves NULLs out [Q47]",
    { op: "not_in", value: ["lead"] },
    (n) => !none(n) && !lead(n),
  ],
  [
    "not_like leaves NULLs out [Q47]",
    { op: "not_like", value: "lead" },
    (n) => !none(n) && !lead(n),
  ],
];

describeSharedService("Query, null", ({ query, bulk, single }) => {
  for (const [rule, condition, wanted] of MEANINGS) {
    it(`${rule}`, async () => {
      const filters = { and: [{ field: "stage", ...condition as object }] };
      const response = await query("deals", {
        filters,
        select: ["fid"],
        sort: [{ field: "fid" }],
        per_page: 200,
      });
      assertEquals(valuesOf(response, "fid"), NUMBERS.filter(wanted));
    });
  }

  for (const op of ["gt", "gte", "lt", "lte", "like", "not_like"]) {
    it(`rejects null in ${op}, saying to use is_null [Q46] [TV26] [FS17]`, async () => {
      const filters = { and: [{ field: "note", op, value: null }] };
      assertRejectedAt(await query("deals", { filters }), "filters.and[0].value", "is_null");
    });
  }

  it("rejects null in between, at its position, saying to use is_null [Q46] [FS16]", async () => {
    for (const [value, position] of [[[null, 1], 0], [[1, null], 1]] as const) {
      const filters = { or: [{ field: "fid", op: "between", value }] };
      assertRejectedAt(
        await query("deals", { filters }),
        `filters.or[0].value[${position}]`,
        "is_null",
      );
    }
  });

  it("accepts null for columns that are never NULL [Q42]", async () => {
    for (const op of ["eq", "neq"]) {
      const filters = { and: [{ field: "title", op, value: null }] };
      assertEquals((await query("deals", { filters })).body["total"], op === "eq" ? 0 : 60);
    }
  });

  it("means IS NULL in the filters of updates too [U5] [US10] [UB5]", async () => {
    const response = await bulk("deals", {
      filters: { stage: null },
      fields: { note: "stageless" },
    });
    assertEquals(response.body["updated"], NUMBERS.filter(none).length, response.text);
    const one = await single("deals", {
      filters: { stage: null, fid: 9 },
      fields: { note: "nine" },
    });
    assertEquals(one.body["matched"], 1, one.text);
    const filters = {
      and: [{ field: "stage", op: "eq", value: null }, {
        field: "note",
        op: "eq",
        value: "stageless",
      }],
    };
    assertEquals(
      (await query("deals", { filters })).body["total"],
      NUMBERS.filter(none).length - 1,
    );
  });
}, { writes: "rows" });
