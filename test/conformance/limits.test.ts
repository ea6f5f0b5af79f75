import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import {
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
  valuesOf,
} from "./assert_response.ts";
import { describeService, describeSharedService } from "./describe_service.ts";

/** A filter of so many groups inside each other, a condition in the innermost. */
function nest(depth: number, condition: unknown = { field: "id", op: "eq", value: 1 }): unknown {
  let item = condition;
  for (let level = depth; level > 0; level--) item = { [level % 2 ? "and" : "or"]: [item] };
  return item;
}

/** The path of the group at a depth of {@link nest}. */
function pathOf(depth: number): string {
  let path = "filters";
  for (let level = 1; level < depth; level++) path += level % 2 ? ".and[0]" : ".or[0]";
  return path;
}

function conditions(count: number): unknown[] {
  return Array.from({ length: count }, (_, n) => ({ field: "id", op: "neq", value: 500 + n }));
}

function numbers(count: number): number[] {
  return Array.from({ length: count }, (_, n) => n + 1);
}

describeSharedService("Limits", ({ query, single, bulk }) => {
  it("takes groups to depth 5 [L1] [L2] [FS7]", async () => {
    for (const depth of [1, 2, 3, 4, 5]) {
      assertEquals(recordsOf(await query("guests", { filters: nest(depth) })).length, 1);
    }
  });

  it("rejects a group at depth 6 at its own path [L1] [L2] [E23] [E17] [FS7]", async () => {
    assertRejectedAt(await query("guests", { filters: nest(6) }), pathOf(6), "5");
  });

  it("rejects an empty group at depth 6 too [L1]", async () => {
    assertRejectedAt(await query("guests", { filters: nest(5, { and: [] }) }), pathOf(6), "5");
  });

  it("rejects a thousand levels of nesting without a stack overflow [L1]", async () => {
    const response = await query("guests", { filters: nest(1000) });
    assertEquals(response.status, 400, response.text.slice(0, 300));
  });

  it("takes 50 conditions in one group [L3] [FS8]", async () => {
    assertEquals(recordsOf(await query("guests", { filters: { and: conditions(50) } })).length, 5);
  });

  it("rejects the 51st condition in one group [L3] [E23] [FS8]", async () => {
    assertRejectedAt(
      await query("guests", { filters: { and: conditions(51) } }),
      "filters.and[50]",
      "50",
    );
  });

  it("counts conditions over the whole tree [L3] [L4] [FS8]", async () => {
    const groups = (last: number) => ({
      and: [{ or: conditions(20) }, { and: [{ and: conditions(20) }] }, { or: conditions(last) }],
    });
    assertEquals(recordsOf(await query("guests", { filters: groups(10) })).length, 5);
    assertRejectedAt(await query("guests", { filters: groups(11) }), "filters.and[2].or[10]", "50");
  });

  it("accepts 2,000 characters of patterns in a request and rejects one more at its path [RE21] [L11]", async () => {
    const like = (op: string, length: number) => ({
      field: "name",
      op,
      value: `%${"b".repeat(length - 1)}`,
    });
    const ask = (last: number) =>
      query("guests", {
        filters: {
          or: [like("like", 800), { and: [like("not_like", 700), like("like", last)] }],
        },
      });
    assertEquals(recordsOf(await ask(500)).length, 0);
    assertRejectedAt(await ask(501), "filters.or[1].and[1].value", "2001", "2000");
    const worst = { or: [like("like", 500_000)] };
    assertRejectedAt(await query("guests", { filters: worst }), "filters.or[0].value", "2000");
  });

  it("rejects a tsquery that Postgres would read for minutes, in filters and in fields [RE22] [L11]", async () => {
    const value = `a${"&a".repeat(200_000)}`;
    const filters = { and: [{ field: "c_tsquery", op: "eq", value }] };
    assertRejectedAt(await query("everything", { filters }), "filters.and[0].value", "20000");
    const update = { filters: { id: 1 }, fields: { c_tsquery: value } };
    assertRejectedAt(await single("everything", update), "fields.c_tsquery", "20000");
  });

  it("rejects XML that Postgres would take long to read: many attributes in a tag, long declarations [RE37] [L23]", async () => {
    const names = (count: number) => Array.from({ length: count }, (_, n) => `a${n}`);
    const attributes = (count: number) => names(count).map((name) => `${name}="1"`).join(" ");
    const write = (c_xml: string) =>
      single("everything", { filters: { id: -1 }, fields: { c_xml } });
    assertEquals((await write(`<b><a ${attributes(5000)}/></b>`)).status, 404);
    assertRejectedAt(
      await write(`<b><a ${attributes(5001)}/></b>`),
      "fields.c_xml",
      "at most 5000 attributes in a tag",
    );
    const declared = names(2000).map((name) => `${name} CDATA "1"`).join(" ");
    assertRejectedAt(
      await write(`<!DOCTYPE a [<!ATTLIST a ${declared}>]><a/>`),
      "fields.c_xml",
      "at most 20000 characters where it declares types",
    );
  });

  it("rejects numbers that would print far longer than they are written [RE25] [L18]", async () => {
    const many = Array.from({ length: 1000 }, () => "1e900");
    // 1,000 zeros, and one for each character of `{"1e900","1e900",…}` and `{1e900,1e900,…}`.
    const rejected: [Record<string, unknown>, string, number][] = [
      [{ c_numeric: "1e131071" }, "fields.c_numeric", 1008],
      [{ a_numeric_10_2: many }, "fields.a_numeric_10_2", 9001],
      [{ a_numeric_10_2: `{${many}}` }, "fields.a_numeric_10_2", 7001],
      [{ c_numrange: "[1,1e131071)" }, "fields.c_numrange", 1012],
    ];
    for (const [fields, path, zeros] of rejected) {
      assertRejectedAt(
        await single("everything", { filters: { id: 1 }, fields }),
        path,
        `exponents that add at most ${zeros} zeros`,
      );
    }
    const filters = { and: [{ field: "c_numeric", op: "in", value: ["1", "1e-9999"] }] };
    assertRejectedAt(
      await query("everything", { filters }),
      "filters.and[0].value[1]",
      "exponents",
    );
    const numbers = `[${"1e300,".repeat(1000)}1]`;
    const raw = `{"filters":{"id":1},"fields":{"c_jsonb":${numbers}}}`;
    const path = "fields.c_jsonb[";
    const response = await single("everything", undefined, { raw });
    const most = 10_000 + 4 * raw.length;
    assertRejected(response, 400, path, `exponents that add at most ${most} zeros`);
    const fine = { filters: { and: [{ field: "c_numeric", op: "eq", value: "1e900" }] } };
    assertOk(await query("everything", fine));
  });

  for (const op of ["in", "not_in"]) {
    it(`takes 1 and 200 values in ${op} [L5] [Q38] [FS15]`, async () => {
      for (const count of [1, 200]) {
        const filters = { and: [{ field: "id", op, value: numbers(count) }] };
        const found = Math.min(count, 5);
        assertEquals(
          recordsOf(await query("guests", { filters })).length,
          op === "in" ? found : 5 - found,
        );
      }
    });

    it(`rejects 0 and 201 values in ${op} [L5] [E23] [FS15]`, async () => {
      for (const count of [0, 201]) {
        const filters = { and: [{ field: "id", op, value: numbers(count) }] };
        assertRejectedAt(await query("guests", { filters }), "filters.and[0].value", "200");
      }
    });
  }

  it("takes 50 conditions of 200 values each [FS24]", async () => {
    const filters = {
      and: Array.from({ length: 50 }, () => ({ field: "id", op: "in", value: numbers(200) })),
    };
    assertEquals(recordsOf(await query("guests", { filters })).length, 5);
    const texts = ["Guest 1", ...Array.from({ length: 199 }, (_, n) => `${'é"'.repeat(10)} ${n}`)];
    const long = Array.from({ length: 50 }, () => ({ field: "name", op: "in", value: texts }));
    assertEquals(valuesOf(await query("guests", { filters: { or: long } }), "name"), ["Guest 1"]);
  });

  it("takes exactly 2 values in between [L6] [Q39] [FS16]", async () => {
    const between = (value: unknown[]) =>
      query("guests", { filters: { and: [{ field: "id", op: "between", value }] } });
    assertEquals(recordsOf(await between([2, 3])).length, 2);
    for (const value of [[], [2], [2, 3, 4]]) {
      assertRejectedAt(await between(value), "filters.and[0].value", "2");
    }
  });

  it("returns 50 rows a page by default, and up to 200 [L7] [Q74] [Q75] [FS20]", async () => {
    for (const [wanted, given] of [[undefined, 50], [1, 1], [199, 199], [200, 200]]) {
      const body = assertOk(await query("measurements", { per_page: wanted }));
      assertEquals([body["per_page"], (body["records"] as unknown[]).length, body["total"]], [
        given,
        given,
        260,
      ]);
    }
  });

  it("works as 200 when per_page is above 200, and says so [L7] [Q76] [Q77] [FS20]", async () => {
    for (const per_page of [201, 1000, 9007199254740991]) {
      const body = assertOk(
        await query("measurements", { per_page, page: 2, sort: [{ field: "id" }] }),
      );
      assertEquals([body["per_page"], body["page"], (body["records"] as unknown[]).length], [
        200,
        2,
        60,
      ]);
    }
  });

  for (const [name, update] of [["single", single], ["bulk", bulk]] as const) {
    it(`requires at least one filter in update ${name} [L8] [U14] [U18] [US5] [UB4]`, async () => {
      for (const filters of [{}, null, [], "x", 1, true]) {
        assertRejectedAt(await update("guests", { filters, fields: { name: "x" } }), "filters");
      }
    });

    it(`requires at least one field in update ${name} [L9] [U15] [U18] [US6]`, async () => {
      for (const fields of [{}, null, [], "x", 1, false]) {
        assertRejectedAt(await update("guests", { filters: { id: 1 }, fields }), "fields");
      }
    });
  }
});

describeService("Limits that the operator has set", ({ query, single, bulk }) => {
  it("accepts ROWGATE_MAX_TSQUERY_CHARACTERS in each tsquery and rejects one more [RE22] [L11]", async () => {
    const longest = "aa&bb&cc";
    const find = (value: string) =>
      query("everything", { filters: { and: [{ field: "c_tsquery", op: "eq", value }] } });
    assertOk(await find(longest));
    assertRejectedAt(await find(`${longest}c`), "filters.and[0].value", "at most 8 characters");
    for (const update of [single, bulk]) {
      const set = (value: string) =>
        update("everything", { filters: { id: 1 }, fields: { c_tsquery: value } });
      assertOk(await set(longest));
      assertRejectedAt(await set(`${longest}c`), "fields.c_tsquery", "at most 8 characters");
      const filters = { id: 1, c_tsquery: `${longest}c` };
      const fields = { c_tsquery: longest };
      const response = await update("everything", { filters, fields });
      assertRejectedAt(response, "filters.c_tsquery", "at most 8 characters");
    }
  });

  it("accepts ROWGATE_MAX_PATTERN_CHARACTERS in a query and rejects one more [RE21] [L11]", async () => {
    const find = (value: string) =>
      query("guests", { filters: { and: [{ field: "name", op: "like", value }] } });
    assertEquals(recordsOf(await find("Guest 1")).length, 1);
    assertRejectedAt(await find("Guest %1"), "filters.and[0].value", "at most 7 in all patterns");
  });
}, {
  environment: { ROWGATE_MAX_TSQUERY_CHARACTERS: "8", ROWGATE_MAX_PATTERN_CHARACTERS: "7" },
});
