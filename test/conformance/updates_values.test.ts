import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { assertOk, assertRejectedAt, recordsOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

/** Column, value to set, and the text that Postgres must hold then. */
const STORED: readonly [string, unknown, string | null][] = [
  ["c_bool", true, "true"],
  ["c_bool", "false", "false"],
  ["c_bool", 1, "true"],
  ["c_bool", 0, "false"],
  ["c_int2", -5, "-5"],
  ["c_int4", "77", "77"],
  ["c_int8", "9007199254740993", "9007199254740993"],
  ["c_int8", 5, "5"],
  ["c_float4", 0.1, "0.1"],
  ["c_float8", 0.30000000000000004, "0.30000000000000004"],
  ["c_float8", "NaN", "NaN"],
  [
    "c_numeric",
    "1234567890123456789012345678901234567890.0123456789",
    "1234567890123456789012345678901234567890.0123456789",
  ],
  ["c_numeric_10_2", 1.5, "1.50"],
  ["c_money", "1,234.50", "$1,234.50"],
  ["c_text", 'O\'Reilly "x" \\ \n 🚀', 'O\'Reilly "x" \\ \n 🚀'],
  ["c_text", "", ""],
  ["c_text", null, null],
  ["c_text", 5, "5"],
  ["c_text", true, "true"],
  ["c_text", "null", "null"],
  ["c_varchar_3", "äöü", "äöü"],
  ["c_char_4", "z", "z"],
  ["c_name", "n", "n"],
  ["c_char_internal", "q", "q"],
  ["c_bytea", "\\xdeadbeef", "\\xdeadbeef"],
  ["c_date", "2026-02-28", "2026-02-28"],
  ["c_date", "infinity", "infinity"],
  ["c_time", "01:02:03.000004", "01:02:03.000004"],
  ["c_timetz", "01:02:03+02", "01:02:03+02"],
  ["c_timestamp", "2026-01-01T00:00:00.000001", "2026-01-01 00:00:00.000001"],
  ["c_timestamptz", "2026-01-01T02:00:00.000001+02:00", "2026-01-01 00:00:00.000001+00"],
  ["c_timestamptz", "2026-01-01T00:00:00", "2026-01-01 00:00:00+00"],
  ["c_interval", "P1Y2M", "P1Y2M"],
  ["c_uuid", "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A12", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12"],
  ["c_jsonb", { b: [1, "x", null], a: '"' }, '{"a": "\\"", "b": [1, "x", null]}'],
  ["c_jsonb", "text", '"text"'],
  ["c_jsonb", 5, "5"],
  ["c_jsonb", true, "true"],
  ["c_jsonb", [], "[]"],
  ["c_jsonb", '{"a":1}', '"{\\"a\\":1}"'],
  ["c_json", [1, { a: null }], '[1,{"a":null}]'],
  ["c_json", "x", '"x"'],
  ["c_jsonb", { ["__proto__"]: 1 }, '{"__proto__": 1}'],
  ["c_inet", "10.0.0.1/8", "10.0.0.1/8"],
  ["c_cidr", "10.0.0.0/8", "10.0.0.0/8"],
  ["c_macaddr", "08:00:2b:01:02:04", "08:00:2b:01:02:04"],
  ["c_bit_3", "110", "110"],
  ["c_varbit_5", "1", "1"],
  ["c_point", "(3,4)", "(3,4)"],
  ["c_box", "(1,1),(0,0)", "(1,1),(0,0)"],
  ["c_int4range", "[2,4]", "[2,5)"],
  ["c_tsvector", "'b' 'a'", "'a' 'b'"],
  ["c_oid", 7, "7"],
  ["c_pg_lsn", "0/1", "0/1"],
  ["c_xid8", "5", "5"],
  ["c_enum", "lost", "lost"],
  ["c_enum_mixed", 'it\'s "blue"', 'it\'s "blue"'],
  ["d_positive", 5, "5"],
  ["d_short", "xyz", "xyz"],
  ["d_cents", "9.99", "9.99"],
  ["d_small", 99, "99"],
  ["a_int4", [1, 2, null, 3], "{1,2,NULL,3}"],
  ["a_int4", [], "{}"],
  ["a_int4", null, null],
  [
    "a_text",
    ["a,b", 'q"q', "back\\slash", "{}", "NULL", null, "", " ", "é🚀"],
    '{"a,b","q\\"q","back\\\\slash","{}","NULL",NULL,""," ",é🚀}',
  ],
  ["a_int8", ["9223372036854775807", 1], "{9223372036854775807,1}"],
  ["a_numeric_10_2", [1.5, "2.25"], "{1.50,2.25}"],
  ["a_uuid", ["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"], "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}"],
  ["a_enum", ["won", "lead"], "{won,lead}"],
  ["a_varchar_3", ["äöü"], "{äöü}"],
  ["a_bool", [true, "f", 1], "{t,f,t}"],
  ["a_positive", [1, 2], "{1,2}"],
  ["d_int_list", [4, 5], "{4,5}"],
  ["a_timestamptz", ["2026-01-01T00:00:00.000001Z"], '{"2026-01-01 00:00:00.000001+00"}'],
];

/** Column and a value that cannot be stored in it. */
const REJECTED: readonly [string, unknown, string][] = [
  ["c_varchar_3", "abcd", "c_varchar_3"],
  ["c_char_4", "abcde", "c_char_4"],
  ["c_bit_3", "1011", "c_bit_3"],
  ["c_bit_3", "10", "c_bit_3"],
  ["c_varbit_5", "101101", "c_varbit_5"],
  ["c_numeric_10_2", "999999999.99", "c_numeric_10_2"],
  ["c_int2", 32768, "c_int2"],
  ["c_int4", 1.5, "c_int4"],
  ["c_int4", true, "c_int4"],
  ["c_bool", 2, "c_bool"],
  ["c_date", "2026-02-30", "c_date"],
  ["c_enum", "winning", "c_enum"],
  ["c_uuid", "x", "c_uuid"],
  ["c_int4range", "[5,1)", "c_int4range"],
  ["c_inet", "x", "c_inet"],
  ["d_positive", 0, "d_positive"],
  ["d_positive", -1, "d_positive"],
  ["d_short", "abcd", "d_short"],
  ["d_small", 100, "d_small"],
  ["d_needed", "forbidden", "d_needed"],
  ["a_int4", ["x"], "a_int4[0]"],
  ["a_int4", [1, 1.5], "a_int4[1]"],
  ["a_int4", [1, {}], "a_int4[1]"],
  ["a_uuid", ["x"], "a_uuid[0]"],
  ["a_varchar_3", ["abc", "abcd"], "a_varchar_3[1]"],
  ["a_positive", [1, -1], "a_positive"],
  ["a_enum", ["won", "x"], "a_enum[1]"],
  ["a_bool", [true, "maybe"], "a_bool[1]"],
  ["a_text", { 0: "a" }, "a_text"],
];

describeSharedService("Updates, values of fields", ({ query, single, run, service }) => {
  for (const [field, value, text] of STORED) {
    it(`stores ${JSON.stringify(value)} in ${field} exactly [U8] [U9] [U10] [U31] [TV13] [TV18] [TV21]`, async () => {
      const response = await single("everything", {
        filters: { id: 1 },
        fields: { [field]: value },
      });
      const body = assertOk(response);
      assertEquals(body["fields"], { [field]: value });
      const trimmed = field === "c_char_4" ? `rtrim(${field})` : `${field}::text`;
      const results = await run(
        `set local intervalstyle to 'iso_8601'; select ${trimmed} as stored from everything where id = 1`,
      );
      const [row] = results.at(-1) as unknown as Record<string, unknown>[];
      assertEquals(row?.["stored"], text);
      const again = await single("everything", { filters: { id: 1 }, fields: { [field]: value } });
      assertEquals(assertOk(again)["updated"], 0, "the same value again");
    });
  }

  for (const [field, value, path] of REJECTED) {
    it(`rejects ${JSON.stringify(value)} for ${field} at its path and cuts nothing [E33] [U8] [U19] [TV19] [TV25]`, async () => {
      const before = await checksumTenant(service().database.admin, 1);
      const response = await single("everything", {
        filters: { id: 1 },
        fields: { c_text: "x", [field]: value },
      });
      assertRejectedAt(response, `fields.${path}`);
      assertEquals(await checksumTenant(service().database.admin, 1), before);
    });
  }

  it("rounds to the column's scale as Postgres does, and does not count it as a change again [TV20]", async () => {
    const body = { filters: { fid: 20 }, fields: { amount: "1.23456" } };
    assertEquals(assertOk(await single("deals", body))["updated"], 1);
    assertEquals(assertOk(await single("deals", body))["updated"], 0);
    const filters = { and: [{ field: "fid", op: "eq", value: 20 }] };
    assertEquals(recordsOf(await query("deals", { filters, select: ["amount"] })), [{
      amount: 1.2346,
    }]);
  });

  it("sets many columns in one request [U8]", async () => {
    const fields = {
      title: "Many",
      status: "won",
      amount: null,
      closed: true,
      tags: ["a", null],
      data: { a: [] },
      stage: "won",
      note: "n",
      code: "AB",
    };
    assertEquals(
      assertOk(await single("deals", { filters: { fid: 21 }, fields }))["fields"],
      fields,
    );
    const filters = { and: [{ field: "fid", op: "eq", value: 21 }] };
    const [record] = recordsOf(await query("deals", { filters, select: Object.keys(fields) }));
    assertEquals(record, { ...fields, code: "AB  " });
  });

  it("sets json to SQL NULL for null [TV13]", async () => {
    assertOk(await single("deals", { filters: { fid: 22 }, fields: { data: null } }));
    assertEquals((await run("select 1 from deals where fid = 22 and data is null")).length, 1);
  });

  it("selects with filters the same rows as eq conditions do [U6]", async () => {
    const pairs: readonly [string, unknown][] = [
      ["c_text", "plain"],
      ["c_char_4", "abcd"],
      ["c_timestamptz", "2026-01-31T12:34:56.000001Z"],
      ["c_numeric", 1.1],
      ["c_enum", "lead"],
      ["c_bool", 1],
      ["c_int8", "9223372036854775807"],
      ["c_float8", "NaN"],
      ["c_bytea", "\\xdeadbeef"],
    ];
    for (const [field, value] of pairs) {
      const { total } =
        (await query("everything", { filters: { and: [{ field, op: "eq", value }] } })).body;
      const response = await single("everything", {
        filters: { [field]: value },
        fields: { c_name: "n" },
      });
      const matched = response.body["matched"];
      assertEquals(matched, total, `${field}: ${response.text}`);
    }
  });

  it("stores the sign of a zero below zero in a double, where it is another value than zero [TV32]", async () => {
    const set = async (fields: string) => {
      const raw = `{"filters": {"id": 1}, "fields": ${fields}}`;
      return assertOk(await single("everything", undefined, { raw }))["updated"];
    };
    await set('{"c_float8": 0, "c_float4": 0, "c_int8": 0, "c_numeric": 0}');
    assertEquals(await set('{"c_float8": -0, "c_float4": -0.0}'), 1);
    assertEquals(await set('{"c_float8": -0, "c_int8": -0, "c_numeric": -0}'), 0);
    const columns = "concat_ws(' ', c_float8, c_float4, c_int8, c_numeric)";
    const stored = await run(`select ${columns} stored from everything where id = 1`);
    assertEquals(stored, [{ stored: "-0 -0 0 0" }]);
    assertEquals(await set('{"c_float8": 0}'), 1);
  });
}, { writes: "rows" });
