import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertRejectedAt, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const NUMBERS = Array.from({ length: 60 }, (_, n) => n + 1);
const starts = (digits: string) => (n: number) => String(n).startsWith(digits);

/** Column, pattern, and the deals it must find. */
const PATTERNS: readonly [string, string, (n: number) => boolean][] = [
  ["title", "deal%", () => false],
  ["title", "Deal 1", (n) => n === 1],
  ["title", "Deal _", (n) => n < 10 && n !== 7 && n !== 8],
  ["title", "Deal 8 Größe _", (n) => n === 8],
  ["title", "%50\\%\\_off%", (n) => n % 10 === 7],
  ["title", "%50x_off%", () => false],
  ["title", "%\\\\%", (n) => n % 10 === 7],
  ["title", "%'quoted'", (n) => n % 10 === 7],
  ["title", "%🚀", (n) => n % 10 === 8],
  ["title", "\\D\\e\\al 1", (n) => n === 1],
  ["title", "", () => false],
  ["title", "%", () => true],
  ["title", "%'; drop table deals; --%", () => false],
  ["modified_at", "2026-%", () => true],
  ["modified_at", "2026-01-01 %", (n) => n < 16],
  ["modified_at", "%.000137+00", (n) => n === 1],
  ["created_on", "2025-06-0%", (n) => n < 9],
  ["fid", "1%", starts("1")],
  ["external_no", "_", (n) => n < 10],
  ["closed", "tru_", (n) => n % 4 === 1 || n % 4 === 2],
  ["stage", "%o%", (n) => n % 9 !== 0 && (n % 5 === 2 || n % 5 === 3 || n % 5 === 4)],
  ["tags", "{hot%", (n) => n % 4 === 2],
  ["data", '{"n":%', (n) => n % 3 === 1],
  ["probability", "0._", (n) => n % 6 !== 0 && n % 11 !== 0 && n % 11 !== 10],
  ["owner", "%-%-%-%-%", (n) => n % 5 !== 0],
  ["amount", "%", (n) => n % 7 !== 0],
];

describeSharedService("Query, like", ({ query }) => {
  for (const [field, value, wanted] of PATTERNS) {
    it(`finds by ${field} like ${JSON.stringify(value)} [Q27] [Q49] [Q50] [Q51] [Q52] [IN17] [TV17]`, async () => {
      const filters = { and: [{ field, op: "like", value }] };
      const response = await query("deals", {
        filters,
        select: ["fid"],
        sort: [{ field: "fid" }],
        per_page: 200,
      });
      assertEquals(valuesOf(response, "fid"), NUMBERS.filter(wanted));
    });
  }

  it("finds by not_like what is not NULL and not like it [Q28] [Q49] [Q47]", async () => {
    const filters = { and: [{ field: "created_on", op: "not_like", value: "2025-06-%" }] };
    const response = await query("deals", {
      filters,
      select: ["fid"],
      sort: [{ field: "fid" }],
      per_page: 200,
    });
    assertEquals(valuesOf(response, "fid"), NUMBERS.filter((n) => n > 29));
  });

  for (const op of ["like", "not_like"]) {
    it(`rejects an unpaired backslash at the end of the pattern of ${op}, though no row is reached [Q53] [IN18]`, async () => {
      for (const value of ["\\", "100%\\", "a\\\\\\"]) {
        const filters = { and: [{ or: [] }, { field: "title", op, value }] };
        assertRejectedAt(await query("deals", { filters }), "filters.and[1].value", "backslash");
      }
    });
  }

  it("takes a paired backslash at the end [Q52]", async () => {
    const filters = { and: [{ field: "title", op: "like", value: "%\\\\" }] };
    assertEquals((await query("deals", { filters })).body["total"], 0);
  });

  it("matches line breaks with % [Q27]", async () => {
    const filters = { and: [{ field: "c_text", op: "like", value: "50\\%\\_off%next" }] };
    assertEquals(valuesOf(await query("everything", { filters, select: ["id"] }), "id"), [11]);
  });
});
