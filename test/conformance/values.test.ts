import { assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, assertRejectedAt, recordsOf, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

/** Column of `everything` and a value that its type does not take. */
const REJECTED: readonly [string, unknown][] = [
  ["c_bool", 2],
  ["c_bool", -1],
  ["c_bool", 0.5],
  ["c_bool", "maybe"],
  ["c_bool", ""],
  ["c_int2", 32768],
  ["c_int2", "40000"],
  ["c_int2", 1.5],
  ["c_int2", "1.5"],
  ["c_int2", true],
  ["c_int2", "abc"],
  ["c_int4", 2147483648],
  ["c_int4", -2147483649],
  ["c_int4", 1e10],
  ["c_int4", ""],
  ["c_int4", false],
  ["c_int4", "12 apples"],
  ["c_int8", "9223372036854775808"],
  ["c_int8", 1.25],
  ["c_int8", "1e3"],
  ["c_float8", "abc"],
  ["c_float8", true],
  ["c_float4", "1e60"],
  ["c_numeric", "1,5"],
  ["c_numeric", true],
  ["c_date", "2026-02-30"],
  ["c_date", "yesterdayish"],
  ["c_date", 20260131],
  ["c_date", true],
  ["c_date", ""],
  ["c_time", "25:00"],
  ["c_timestamp", "2026-13-01"],
  ["c_timestamptz", "2026-01-31T99:00Z"],
  ["c_timestamptz", 1769000000],
  ["c_timestamptz", "not a time"],
  ["c_interval", "soon"],
  ["c_uuid", "a0eebc99"],
  ["c_uuid", 5],
  ["c_uuid", true],
  ["c_enum", "winning"],
  ["c_enum", "Won"],
  ["c_enum", 1],
  ["c_enum_mixed", "green"],
  ["c_jsonb", "{a"],
  ["c_inet", "300.1.1.1"],
  ["c_cidr", "192.168.0.1/24"],
  ["c_macaddr", "08:00"],
  ["c_bit_3", "102"],
  ["c_bytea", "\\xzz"],
  ["c_int4range", "[5,1)"],
  ["c_tstzrange", "[x,y)"],
  ["c_int4multirange", "{[1,2"],
  ["c_tsquery", "fat &"],
  ["c_pg_lsn", "xyz"],
  ["c_oid", "x"],
  ["c_money", "twelve"],
  ["a_int4", "{1,x}"],
  ["a_int4", "1,2"],
  ["a_int4", 5],
  ["a_text", "{a"],
  ["a_uuid", "{x}"],
];

describeSharedService("Values, values against types", ({ query, single, bulk, run }) => {
  for (const [field, value] of REJECTED) {
    it(`rejects ${JSON.stringify(value)} for ${field} at its path in every operator and operation [V1] [V4] [V2] [V6] [U4] [TV2] [TV24]`, async () => {
      for (const op of ["eq", "neq", "gt", "lte"]) {
        const filters = {
          and: [{ field: "id", op: "eq", value: 1 }, { or: [{ field, op, value }] }],
        };
        assertRejectedAt(await query("everything", { filters }), "filters.and[1].or[0].value");
      }
      for (
        const [op, given, position] of [["in", [null, value], 1], ["not_in", [value], 0], [
          "between",
          [value, value],
          0,
        ]] as const
      ) {
        const filters = { or: [{ field: "id", op: "eq", value: 1 }, { field, op, value: given }] };
        assertRejectedAt(
          await query("everything", { filters }),
          `filters.or[1].value[${position}]`,
        );
      }
      for (const update of [single, bulk]) {
        const response = await update("everything", {
          filters: { id: 1, [field]: value },
          fields: { c_text: "x" },
        });
        assertRejectedAt(response, `filters.${field}`);
      }
    });
  }

  it("names the one invalid value among valid ones that only Postgres can validate [V1]", async () => {
    const filters = {
      or: [
        { field: "c_int4range", op: "in", value: ["[1,5)", "empty", "[9,1)", "[2,3]"] },
        { field: "c_tsquery", op: "eq", value: "fat & cat" },
      ],
    };
    assertRejectedAt(await query("everything", { filters }), "filters.or[0].value[2]", '"[9,1)"');
  });

  it("compares a number or boolean against text with its JSON text [V5]", async () => {
    await run(
      "update guests set name = (array['5', 'true', '-1.5', 'false', '0'])[id] where tenant_id = 1",
    );
    for (const [value, id] of [[5, 1], [true, 2], [-1.5, 3], [false, 4], [0, 5]] as const) {
      const filters = { and: [{ field: "name", op: "eq", value }] };
      assertEquals(valuesOf(await query("guests", { filters }), "id"), [id]);
      assertEquals(
        valuesOf(
          await query("guests", {
            filters: { or: [{ field: "name", op: "in", value: ["x", value] }] },
          }),
          "id",
        ),
        [id],
      );
      assertEquals(
        assertOk(
          await bulk("guests", { filters: { name: value }, fields: { name: value } }),
        )["updated"],
        0,
      );
    }
  });

  it("takes 1 and 0 for booleans, and what Postgres takes as a string [V6] [V4] [TV7]", async () => {
    for (const value of [1, true, "true", "t", "yes", "on", "1", "TRUE"]) {
      const filters = {
        and: [{ field: "closed", op: "eq", value }, { field: "fid", op: "lte", value: 4 }],
      };
      assertEquals(valuesOf(await query("deals", { filters, sort: [{ field: "fid" }] }), "fid"), [
        1,
        2,
      ], String(value));
    }
    for (const value of [0, false, "false", "f", "no", "off", "0"]) {
      const filters = {
        and: [{ field: "closed", op: "eq", value }, { field: "fid", op: "lte", value: 4 }],
      };
      assertEquals(valuesOf(await query("deals", { filters, sort: [{ field: "fid" }] }), "fid"), [
        3,
        4,
      ], String(value));
    }
  });

  it("takes a timestamp without zone against timestamptz as UTC [V12]", async () => {
    for (
      const value of [
        "2026-01-01T09:00:00.000137",
        "2026-01-01 09:00:00.000137Z",
        "2026-01-01T11:00:00.000137+02:00",
      ]
    ) {
      const filters = { and: [{ field: "modified_at", op: "eq", value }] };
      assertEquals(valuesOf(await query("deals", { filters }), "fid"), [1], value);
    }
  });

  it("distinguishes microseconds [TV8]", async () => {
    const at = (value: string) => ({ and: [{ field: "c_timestamptz", op: "eq", value }] });
    assertEquals(
      valuesOf(await query("everything", { filters: at("2026-01-31T12:34:56.000001Z") }), "id"),
      [7],
    );
    assertEquals(
      valuesOf(await query("everything", { filters: at("2026-01-31T12:34:56Z") }), "id"),
      [8],
    );
    assertEquals(
      valuesOf(await query("everything", { filters: at("2026-01-31T12:34:56.000002Z") }), "id"),
      [],
    );
  });

  for (
    const [name, raw] of [["U+0000", '"a\\u0000b"'], ["a lone surrogate", '"\\ud83d"'], [
      "a lone low surrogate",
      '"x\\ude80"',
    ]] as const
  ) {
    it(`rejects ${name} in a string at its path [V7] [V8] [IN11] [IN12]`, async () => {
      for (const field of ["title", "data", "amount"]) {
        const filters =
          `{"filters": {"and": [{"field": "${field}", "op": "eq", "value": ${raw}}]}}`;
        assertRejectedAt(await query("deals", undefined, { raw: filters }), "filters.and[0].value");
      }
      const member = `{"filters": {"fid": 1, "note": ${raw}}, "fields": {"code": "x"}}`;
      assertRejectedAt(await single("deals", undefined, { raw: member }), "filters.note");
      const fields = `{"filters": {"fid": 1}, "fields": {"note": ${raw}}}`;
      assertRejectedAt(await bulk("deals", undefined, { raw: fields }), "fields.note");
    });
  }

  it("never treats a value as SQL [IN10]", async () => {
    for (
      const value of [
        "' or '1'='1",
        "'; drop table deals; --",
        "$1",
        "\\'; --",
        "%(x)s",
        "{}",
        "NULL",
        "null",
        "''",
      ]
    ) {
      const filters = {
        or: [{ field: "title", op: "eq", value }, {
          field: "title",
          op: "in",
          value: [value, `${value},x`],
        }],
      };
      assertEquals(recordsOf(await query("deals", { filters })), []);
    }
  });
}, { writes: "rows" });
