import { assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { recordsOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

/** Column, row and the value that a client parses. */
const PRINTED: readonly [string, number, unknown][] = [
  ["c_bool", 1, true],
  ["c_int2", 1, 12],
  ["c_int4", 1, 1234],
  ["c_float4", 1, 1.5],
  ["c_float8", 8, 0.30000000000000004],
  ["c_numeric", 1, 3.14],
  ["c_float8", 5, "NaN"],
  ["c_float4", 6, "Infinity"],
  ["c_numeric", 7, "-Infinity"],
  ["c_text", 1, "plain"],
  ["c_text", 9, ""],
  ["c_text", 2, null],
  ["c_text", 10, "emoji 🚀 é العربية \u2028"],
  ["c_text", 11, "50%_off \\ done\t\nnext"],
  ["c_varchar", 12, "trailing  "],
  ["c_bytea", 1, "\\x00ff10"],
  ["c_bytea", 9, "\\x"],
  ["c_date", 1, "2026-01-31"],
  ["c_date", 3, "infinity"],
  ["c_date", 5, "0044-03-15 BC"],
  ["c_date", 8, "2024-02-29"],
  ["c_time", 1, "12:34:56.789012"],
  ["c_time", 3, "24:00:00"],
  ["c_timestamp", 1, "2026-01-31T12:34:56.123456"],
  ["c_timestamp", 4, "-infinity"],
  ["c_interval", 1, "P1DT2H"],
  ["c_interval", 8, "P1Y2M3DT4H5M6.5S"],
  ["c_interval", 6, "P1M"],
  ["c_uuid", 1, "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ["c_json", 1, { a: 1, b: [true, null] }],
  ["c_jsonb", 12, { b: 1, a: { c: [] } }],
  ["c_json", 9, ""],
  ["c_json", 11, null],
  ["c_inet", 1, "192.168.0.1"],
  ["c_bit_3", 1, "101"],
  ["c_int4range", 1, "[1,5)"],
  ["c_enum", 1, "won"],
  ["c_enum_mixed", 9, 'it\'s "blue"'],
  ["c_point", 1, "(1,2)"],
  ["c_oid", 1, "42"],
  ["c_xid8", 1, "18446744073709551615"],
  ["d_positive", 1, 7],
  ["d_cents", 1, 12.34],
  ["a_int4", 1, [1, 2, 3]],
  ["a_text", 10, ["a,b", 'q"q', "back\\slash", "{}", "NULL", null, " "]],
  ["a_text", 11, []],
  ["a_matrix", 1, [[1, 2], [3, 4]]],
  ["a_matrix", 9, [[1, 2], [3, null]]],
  ["a_bool", 1, [true, false]],
  ["a_jsonb", 1, [{ a: 1 }, [1]]],
  ["d_int_list", 1, [1, 2, 3]],
  ["a_enum", 1, ["lead", "won"]],
  ["c_composite", 1, { street: "High Street", number: 1, city: "Leeds" }],
  ["a_composite", 1, [{ street: "High Street", number: 1, city: "Leeds" }]],
  ["a_composite", 9, []],
];

describeSharedService("Values, what values look like", ({ query, run }) => {
  const row = (id: number, ...select: string[]) =>
    query("everything", { filters: { and: [{ field: "id", op: "eq", value: id }] }, select });

  for (const [field, id, value] of PRINTED) {
    it(`prints ${field} of row ${id} as ${JSON.stringify(value)} [V14] [V15] [V17] [V18] [V19] [V20]`, async () => {
      const printed = field === "c_oid"
        ? String(recordsOf(await row(id, field))[0]?.[field])
        : recordsOf(await row(id, field))[0]?.[field];
      assertEquals(printed, value);
    });
  }

  it("prints timestamptz in UTC with microseconds [V16] [V15]", async () => {
    const [plain] = recordsOf(await row(1, "c_timestamptz", "a_timestamptz"));
    assertMatch(String(plain?.["c_timestamptz"]), /^2026-01-31T12:34:56\.123456(Z|\+00:00)$/);
    assertMatch(String(plain?.["a_timestamptz"]), /^2026-01-31T12:34:56\.123456(Z|\+00:00)$/);
    const [late] = recordsOf(await row(7, "c_timestamptz"));
    assertMatch(String(late?.["c_timestamptz"]), /^2026-01-31T12:34:56\.000001(Z|\+00:00)$/);
  });

  it("prints json as it is stored, digit for digit [V17] [TV15]", async () => {
    const { text } = await row(10, "c_json", "c_jsonb");
    assertMatch(text, /"a": 1, "a": 2, "n": 1\.0000000000000000001/);
    assertMatch(
      text,
      /"n": 1\.0000000000000000001, "emoji": "🚀"|"emoji": "🚀", "n": 1\.0000000000000000001|"n": 1\.0000000000000000001/,
    );
  });

  it("prints a char(n) in its full length", async () => {
    assertEquals(recordsOf(await row(1, "c_char_4")), [{ c_char_4: "ab  " }]);
  });

  it("prints every column of every row as JSON that a client can parse [V17] [S12]", async () => {
    const records = recordsOf(
      await query("everything", { sort: [{ field: "id" }], per_page: 200 }),
    );
    assertEquals(records.map((record) => record["id"]), [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    const columns = Object.keys(records[0] ?? {});
    for (const record of records) assertEquals(Object.keys(record), columns);
    const stored = await run(
      "select 1 from pg_attribute where attrelid = 'everything'::regclass and attnum > 0 and not attisdropped",
    );
    assertEquals(columns.length, stored.length);
  });
});
