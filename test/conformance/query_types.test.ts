import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertRejectedAt, recordsOf, valuesOf } from "./assert_response.ts";
import { describeSharedService } from "./describe_service.ts";

/** Columns with equality and order, with row 1's value as a client would send it. */
const ORDERED: Readonly<Record<string, unknown>> = {
  c_bool: true,
  c_int2: 12,
  c_int4: 1234,
  c_int8: 123456,
  c_float4: 1.5,
  c_float8: 2.25,
  c_numeric: 3.14,
  c_numeric_10_2: 3.14,
  c_money: "12.34",
  c_text: "plain",
  c_varchar: "plain",
  c_varchar_3: "abc",
  c_char_4: "ab",
  c_name: "a_name",
  c_char_internal: "c",
  c_bytea: "\\x00ff10",
  c_date: "2026-01-31",
  c_time: "12:34:56.789012",
  c_timetz: "12:34:56+02",
  c_timestamp: "2026-01-31T12:34:56.123456",
  c_timestamp_0: "2026-01-31 12:34:56",
  c_timestamptz: "2026-01-31T12:34:56.123456Z",
  c_timestamptz_3: "2026-01-31T14:34:56.123+02:00",
  c_interval: "P1DT2H",
  c_uuid: "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11",
  c_jsonb: '{"b": [true, null], "a": 1}',
  c_inet: "192.168.0.1",
  c_cidr: "192.168.0.0/24",
  c_macaddr: "08-00-2b-01-02-03",
  c_macaddr8: "08:00:2b:01:02:03:04:05",
  c_bit_3: "101",
  c_varbit_5: "10110",
  c_int4range: "[1,4]",
  c_numrange: "[1.5,2.5]",
  c_tstzrange: "[2026-01-01Z,2026-02-01Z)",
  c_daterange: "[2026-01-01,2026-02-01)",
  c_int4multirange: "{[1,3),[5,7)}",
  c_tsvector: "'a' 'cat' 'fat'",
  c_tsquery: "fat & cat",
  c_oid: 42,
  c_pg_lsn: "16/B374D848",
  c_xid8: "18446744073709551615",
  c_enum: "won",
  c_enum_mixed: "Green",
  d_positive: 7,
  d_short: "abc",
  d_cents: 12.34,
  d_needed: "needed",
  d_small: 42,
  d_int_list: "{1,2,3}",
  a_int4: "{1,2,3}",
  a_int8: "{9223372036854775807,-1}",
  a_text: "{a,b}",
  a_numeric_10_2: "{1.5,2.25}",
  a_uuid: "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
  a_enum: "{lead,won}",
  a_varchar_3: "{abc,d}",
  a_bool: "{t,f}",
  a_timestamptz: '{"2026-01-31 12:34:56.123456Z"}',
  a_jsonb: '{"{\\"a\\": 1}",[1]}',
  a_matrix: "{{1,2},{3,4}}",
  a_positive: "{1,2}",
};

/** Columns whose type has neither equality nor order, with the type's name. */
const UNEQUAL: Readonly<Record<string, readonly [string, string]>> = {
  c_json: ["json", '{"a": 1}'],
  c_xml: ["xml", "<a>1</a>"],
  c_point: ["point", "(1,2)"],
};
const FIRST = { field: "id", op: "eq", value: 1 };

function condition(field: string, op: string, value: unknown) {
  return value === undefined ? { field, op } : { field, op, value };
}

describeSharedService("Query, every operator on every type", ({ query }) => {
  function ask(field: string, op: string, value?: unknown) {
    const and = [FIRST, condition(field, op, value)];
    return query("everything", { filters: { and }, select: ["id"] });
  }

  for (const [field, value] of Object.entries(ORDERED)) {
    it(`compares ${field} with every operator [Q21] [Q22] [Q23] [Q24] [Q25] [Q26] [Q29] [Q30] [Q31] [V4] [Q49]`, async () => {
      const finds: readonly [string, unknown][] = [
        ["eq", value],
        ["gte", value],
        ["lte", value],
        ["in", [value]],
        ["in", [value, null]],
        ["between", [value, value]],
        ["like", "%"],
        ["is_not_null", undefined],
        ["eq", String(value)],
      ];
      const misses: readonly [string, unknown][] = [
        ["neq", value],
        ["gt", value],
        ["lt", value],
        ["not_in", [value]],
        ["not_like", "%"],
        ["is_null", undefined],
      ];
      // All in one "and" find row 1 only when each finds it, and all in one "or" only when one does.
      const found = await query("everything", {
        filters: { and: [FIRST, ...finds.map(([op, given]) => condition(field, op, given))] },
        select: ["id"],
      });
      assertEquals(recordsOf(found), [{ id: 1 }]);
      const or = misses.map(([op, given]) => condition(field, op, given));
      const missed = await query("everything", {
        filters: { and: [FIRST, { or }] },
        select: ["id"],
      });
      assertEquals(recordsOf(missed), []);
    });

    it(`sorts by ${field}, nulls last [Q67]`, async () => {
      const up = await query("everything", {
        sort: [{ field }],
        select: ["id", field],
        per_page: 200,
      });
      const down = await query("everything", {
        sort: [{ field, direction: "desc" }],
        select: ["id", field],
        per_page: 200,
      });
      const filters = { and: [{ field, op: "is_null" }] };
      const nulls = Number((await query("everything", { filters, select: ["id"] })).body["total"]);
      assertEquals(recordsOf(up).length, 12);
      assertEquals(valuesOf(up, field).slice(12 - nulls), Array(nulls).fill(null));
      assertEquals(valuesOf(down, field).slice(0, nulls), Array(nulls).fill(null));
    });
  }

  for (const [field, [type, value]] of Object.entries(UNEQUAL)) {
    it(`rejects comparing and sorting ${type}, naming the type [Q54] [TV16] [TV17] [FS23]`, async () => {
      for (const op of ["eq", "neq", "gt", "gte", "lt", "lte"]) {
        assertRejectedAt(await ask(field, op, value), "filters.and[1].op", type);
      }
      assertRejectedAt(await ask(field, "in", [value]), "filters.and[1].op", type);
      assertRejectedAt(await ask(field, "not_in", [value]), "filters.and[1].op", type);
      assertRejectedAt(await ask(field, "between", [value, value]), "filters.and[1].op", type);
      assertRejectedAt(await query("everything", { sort: [{ field }] }), "sort[0].field", type);
    });

    it(`still tests ${type} for null, by is_null and eq null [Q55] [TV16]`, async () => {
      const second = { field: "id", op: "eq", value: 2 };
      for (const condition of [{ field, op: "is_null" }, { field, op: "eq", value: null }]) {
        assertEquals(
          recordsOf(
            await query("everything", { filters: { and: [second, condition] }, select: ["id"] }),
          ),
          [{ id: 2 }],
        );
      }
      for (const condition of [{ field, op: "is_not_null" }, { field, op: "neq", value: null }]) {
        assertEquals(
          recordsOf(
            await query("everything", { filters: { and: [second, condition] }, select: ["id"] }),
          ),
          [],
        );
      }
    });

    it(`works on ${type} with like, through its text [Q49]`, async () => {
      assert(recordsOf(await ask(field, "like", "%")).length <= 1);
    });
  }
});
