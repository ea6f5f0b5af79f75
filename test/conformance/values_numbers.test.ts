import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejectedAt, recordsOf, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

const UNSAFE = [
  "9007199254740993",
  "-9007199254740993",
  "9007199254740992",
  "123456789012345678901234567890",
  "3.14159265358979323846",
  "0.1000000000000000055511151231257827",
  "1e400",
  "9007199254740993.0",
  "1e-400",
];
const ODATA = { headers: { accept: "application/json;IEEE754Compatible=true" } };

describeSharedService("Values, numbers", ({ query, single, bulk }) => {
  function ask(field: string, value: string, op = "eq") {
    const raw =
      `{"filters": {"and": [{"field": "${field}", "op": "${op}", "value": ${value}}]}, "select": ["id"]}`;
    return query("everything", undefined, { raw });
  }

  for (const number of UNSAFE) {
    it(`rejects the JSON number ${number}, saying to send it as a string [V9] [V10] [TV3] [TV6]`, async () => {
      for (const field of ["c_int8", "c_numeric", "c_float8", "c_text"]) {
        assertRejectedAt(await ask(field, number), "filters.and[0].value", "string");
        assertRejectedAt(
          await ask(field, `["1", ${number}]`, "in"),
          "filters.and[0].value[1]",
          "string",
        );
        assertRejectedAt(
          await ask(field, `[1, ${number}]`, "between"),
          "filters.and[0].value[1]",
          "string",
        );
      }
      const filters = `{"filters": {"c_numeric": ${number}}, "fields": {"c_text": "x"}}`;
      assertRejectedAt(
        await single("everything", undefined, { raw: filters }),
        "filters.c_numeric",
        "string",
      );
      const fields = `{"filters": {"id": 1}, "fields": {"c_numeric": ${number}}}`;
      assertRejectedAt(
        await bulk("everything", undefined, { raw: fields }),
        "fields.c_numeric",
        "string",
      );
    });
  }

  it("takes the same digits as a string, exactly [V4] [TV4] [TV6]", async () => {
    assertEquals(valuesOf(await ask("c_int8", '"9007199254740993"'), "id"), [5]);
    assertEquals(valuesOf(await ask("c_int8", '"-9007199254740993"'), "id"), [7]);
    assertEquals(valuesOf(await ask("c_int8", '"9223372036854775807"'), "id"), [3]);
    assertEquals(
      valuesOf(
        await ask("c_numeric", '"1234567890123456789012345678901234567890.0123456789"'),
        "id",
      ),
      [3],
    );
  });

  it("takes numbers whose digits are safe in a double [V10]", async () => {
    assertEquals(valuesOf(await ask("c_int8", "9007199254740991"), "id"), [6]);
    assertEquals(valuesOf(await ask("c_float8", "0.30000000000000004"), "id"), [8]);
    assertEquals(valuesOf(await ask("c_float8", "5e-324"), "id"), [4]);
    assertEquals(valuesOf(await ask("c_float8", '"1.7976931348623157e308"'), "id"), [3]);
    assertEquals(valuesOf(await ask("c_numeric", "1.1"), "id"), [8]);
    assertEquals(valuesOf(await ask("c_numeric", "1.10"), "id"), [8]);
    assertEquals(valuesOf(await ask("c_int4", "-2147483648"), "id"), [4]);
    assertEquals(valuesOf(await ask("c_int4", "1234.0"), "id"), [1]);
    assertEquals(valuesOf(await ask("c_int2", "-0"), "id"), [5]);
  });

  it("compares a double column with the double that was sent [TV22]", async () => {
    assertEquals(valuesOf(await ask("c_float8", "0.3"), "id"), []);
    assertEquals(valuesOf(await ask("c_float8", '"NaN"'), "id"), [5]);
    assertEquals(valuesOf(await ask("c_float8", '"Infinity"'), "id"), [6]);
    assertEquals(valuesOf(await ask("c_numeric", '"-Infinity"'), "id"), [7]);
  });

  it("passes integers and numeric through with every digit [V14] [TV22]", async () => {
    const { text } = await query("everything", {
      select: ["id", "c_int8", "c_numeric", "c_float8"],
      sort: [{ field: "id" }],
    });
    assertMatch(text, /"c_int8":\s*9223372036854775807\b/);
    assertMatch(text, /"c_int8":\s*-9223372036854775808\b/);
    assertMatch(text, /"c_int8":\s*9007199254740993\b/);
    assertMatch(text, /"c_numeric":\s*1234567890123456789012345678901234567890\.0123456789\b/);
    assertMatch(text, /"c_numeric":\s*1\.10\b/);
    assertMatch(text, /"c_float8":\s*0\.30000000000000004\b/);
    assertMatch(text, /"c_float8":\s*"-Infinity"/);
    assertMatch(text, /"c_numeric":\s*"NaN"/);
  });

  it("gives 64-bit integers and numeric as strings for IEEE754Compatible=true [V21]", async () => {
    const columns = [
      "id",
      "c_int2",
      "c_int8",
      "c_numeric",
      "c_numeric_10_2",
      "c_float8",
      "d_cents",
      "a_int8",
      "a_numeric_10_2",
      "a_int4",
    ];
    const filters = { and: [{ field: "id", op: "in", value: [1, 2, 3] }] };
    const [first, second, third] = recordsOf(
      await query("everything", { filters, select: columns, sort: [{ field: "id" }] }, ODATA),
    );
    assertEquals(first, {
      id: 1,
      c_int2: 12,
      c_int8: "123456",
      c_numeric: "3.14",
      c_numeric_10_2: "3.14",
      c_float8: 2.25,
      d_cents: "12.34",
      a_int8: ["9223372036854775807", "-1"],
      a_numeric_10_2: ["1.50", "2.25"],
      a_int4: [1, 2, 3],
    });
    assertEquals([second?.["c_int8"], second?.["a_int8"]], [null, null]);
    assertEquals(third?.["c_int8"], "9223372036854775807");
  });

  it("sends numbers to a client with any other Accept header [V14]", async () => {
    for (
      const accept of [
        "application/json",
        "*/*",
        "application/json;IEEE754Compatible=false",
        "text/html, */*;q=0.1",
      ]
    ) {
      const records = recordsOf(
        await query("ledger", { select: ["company_no", "amount"], per_page: 1 }, {
          headers: { accept },
        }),
      );
      assertEquals(records, [{ company_no: 1, amount: 1000000000000.05 }]);
    }
  });

  it("reads the Accept header without regard to case and spaces [V21]", async () => {
    for (
      const accept of [
        "application/json; ieee754compatible=TRUE",
        "text/plain, application/json ;IEEE754Compatible=true;q=0.9",
      ]
    ) {
      const records = recordsOf(
        await query("ledger", { select: ["company_no"], per_page: 1 }, { headers: { accept } }),
      );
      assertEquals(records, [{ company_no: "1" }]);
    }
  });

  it("accepts the strings of IEEE754Compatible=true as values [V21]", async () => {
    const [record] = recordsOf(
      await query("everything", { filters: { and: [{ field: "id", op: "eq", value: 3 }] } }, ODATA),
    );
    const filters = { id: 3, c_int8: record?.["c_int8"], c_numeric: record?.["c_numeric"] };
    const response = await single("everything", {
      filters,
      fields: { c_int8: record?.["c_int8"], c_numeric: record?.["c_numeric"] },
    });
    assertEquals(assertOk(response)["updated"], 0);
  });

  it("never rounds a number inside json silently [V10]", async () => {
    const raw = '{"filters": {"id": 2}, "fields": {"c_jsonb": {"n": 12345678901234567890.123}}}';
    const response = await single("everything", undefined, { raw });
    if (response.status === 400) {
      return void assertRejectedAt(response, "fields.c_jsonb.n", "string");
    }
    const { text } = await query("everything", {
      filters: { and: [{ field: "id", op: "eq", value: 2 }] },
      select: ["c_jsonb"],
    });
    assertStringIncludes(text, "12345678901234567890.123");
    assert(response.text.includes("12345678901234567890.123"), response.text);
  });
});
