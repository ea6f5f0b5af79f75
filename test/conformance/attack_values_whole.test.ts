import { assertEquals } from "@std/assert";
import { before, it } from "@std/testing/bdd";
import { waitUntil } from "../support/wait_until.ts";
import { assertOk, assertRejectedAt, valuesOf } from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** A column, a text of which Postgres would drop a part, and what is said. */
const REJECTED: readonly (readonly [column: string, value: string, reported: string])[] = [
  ["c_date", "2026-01-05T23:59:00Z", "expected a date without a time"],
  ["c_date", "2026-01-05 23:59", "a date without a time"],
  ["c_date", "20260105 235900", "a date without a time"],
  ["c_date", "today 10:00", "a date without a time"],
  ["c_date", "2026-01-05Z", "a date without an offset"],
  ["c_date", "2026-01-05+05", "a date without an offset"],
  ["c_date", "Mon Jan 05 2026", "date"],
  ["c_date", "J2461046.5", "date"],
  ["c_date", "J2461046 BC", "date"],
  ["c_time", "10:00:00+05:00", "expected a time without an offset"],
  ["c_time", "10:00 EST", "a time without an offset"],
  ["c_time", "2026-01-05T10:00:00", "a time without a date"],
  ["c_time", "10:00:00.1234567", "6 decimals of a second"],
  ["c_time", "10:00 BC", "time"],
  ["c_timetz", "2026-01-05 10:00+05", "a time without a date"],
  ["c_timestamp", "2026-01-05T10:00:00.1234567", "6 decimals of a second"],
  ["c_timestamp", "2026-01-05 10:00 Monday", "timestamp"],
  ["c_timestamp", "2026-01-05 10:00 d", "timestamp"],
  ["c_timestamp", "epoch +05", "timestamp"],
  ["c_timestamp", "infinity 10:00", "timestamp"],
  ["c_timestamptz", "2026-01-05T10:00:00.123456789Z", "6 decimals of a second"],
  ["c_timestamptz", "Tue, 05 Jan 2026 10:00:00 GMT", "timestamptz"],
  ["c_timestamptz", "2026-01-05 10:00 XYZ-02", "timestamptz"],
  ["c_interval", "0.0000001 s", "whole microseconds"],
  ["c_interval", "1.5 us", "whole microseconds"],
  ["c_interval", "1.01 years", "whole months"],
  ["c_interval", "1 day ago ago", "interval"],
  ["c_interval", "5 microsecondary", "interval"],
  ["c_interval", "y 1 day", "interval"],
  ["c_money", "1.005", "at most two decimals"],
  ["c_money", "1,2,3.4", "at most two decimals"],
  ["c_oid", "-1", "a whole number from 0 to 4294967295"],
  ["c_xid", "-1", "a whole number"],
  ["c_xid", "12abc", "a whole number"],
  ["c_xid8", "18446744073709551616", "a whole number from 0 to 18446744073709551615"],
  ["c_macaddr8", "08002b010203x", "macaddr8"],
  ["c_tid", "(0,1)xyz", "tid"],
  ["c_tsvector", "a:20000", "16383"],
  ["c_tsvector", "a:3A4", "positions"],
  ["c_daterange", "[2026-01-05T10:00Z,2026-02-01)", "a date without a time in each bound"],
  ["c_tsrange", "[2026-01-05T10:00+05,2026-02-01)", "without an offset in each bound"],
  ["c_tsrange", '["2026-01-05 10:00 Monday",)', "timestamp"],
  ["a_date", '{"2026-01-05 10:00",NULL}', "a date without a time in each element"],
  ["a_date", "[0:0]={2026-01-05Z}", "a date without an offset in each element"],
  ["a_timestamp", "{2026-01-05T10:00Z,2026-01-05T10:00}", "an offset in all elements or in none"],
  ["a_name", `{${"n".repeat(64)}}`, "name[]"],
  ["d_date", "2026-01-05T23:59:00Z", "a date without a time"],
];

/** A column, a text that says all that Postgres reads, and what Postgres holds then. */
const TAKEN: readonly (readonly [column: string, value: unknown, held: string])[] = [
  ["c_timestamp", "2026-01-01T23:30:00-05:00", "2026-01-02 04:30:00"],
  ["c_timestamp", "2026-01-01T23:30:00Z", "2026-01-01 23:30:00"],
  ["c_timestamp", "2026-01-01T23:30:00", "2026-01-01 23:30:00"],
  ["c_timestamp", "2026-07-01 12:00 America/New_York", "2026-07-01 16:00:00"],
  ["c_timestamp", "2026-01-01+05", "2025-12-31 19:00:00"],
  ["c_timestamp", "0044-03-15 10:00:00+01 BC", "0044-03-15 09:00:00 BC"],
  ["c_timestamp", "infinity", "infinity"],
  ["c_timestamp", "2026-01-01T23:30:00.1234560000+01", "2026-01-01 22:30:00.123456"],
  ["c_timestamp_0", "2026-01-01T23:30:00.6-05:00", "2026-01-02 04:30:01"],
  ["d_timestamp", "2026-01-01T23:30:00-05:00", "2026-01-02 04:30:00"],
  [
    "a_timestamp",
    "{2026-01-05T10:00Z,2026-01-05T10:00+05,NULL}",
    '{"2026-01-05 10:00:00","2026-01-05 05:00:00",NULL}',
  ],
  ["a_timestamp", "{2026-01-05T10:00,infinity}", '{"2026-01-05 10:00:00",infinity}'],
  ["c_date", "8 January 2026", "2026-01-08"],
  ["c_date", "0044-03-15 BC", "0044-03-15 BC"],
  ["c_time", "04:05:06.789 PM", "16:05:06.789"],
  ["c_time", "allballs", "00:00:00"],
  ["c_timetz", "10:00 EST", "10:00:00-05"],
  ["c_timestamptz", "20260105T100000+0530", "2026-01-05 04:30:00+00"],
  ["c_interval", "1.5 years -3 days 04:05:06.5", "1 year 6 mons -3 days +04:05:06.5"],
  ["c_interval", "P1Y2M3DT4H5M6.5S", "1 year 2 mons 3 days 04:05:06.5"],
  ["c_interval", "@ 1 hour ago", "-01:00:00"],
  ["c_money", "$1,234.56", "$1,234.56"],
  ["c_money", "(1.50)", "-$1.50"],
  ["c_oid", "0012", "12"],
  ["c_xid8", "010", "10"],
  ["c_tsvector", "'a:99999':5 b", "'a:99999':5 'b'"],
  ["c_daterange", "[2026-01-05,infinity)", "[2026-01-05,infinity)"],
  ["c_tsrange", '["2026-01-05 10:00",2026-02-01)', '["2026-01-05 10:00:00","2026-02-01 00:00:00")'],
];

describeService("what Postgres would ignore of a value", ({ query, single, bulk, run }) => {
  const ask = (field: string, value: unknown, op = "eq") =>
    query("whole", {
      filters: { or: [{ field, op, value }] },
      select: ["id"],
      sort: [{ field: "id" }],
    });
  const set = (field: string, value: unknown) =>
    single("whole", { filters: { id: 1 }, fields: { [field]: value } });

  before(async () => {
    await run(`create domain day as date; create domain moment as timestamp;
      create table whole (id int4 primary key, tenant_id int4, c_date date, c_time time, c_timetz timetz,
        c_timestamp timestamp, c_timestamp_0 timestamp(0), c_timestamptz timestamptz, c_interval interval,
        c_money money, c_oid oid, c_xid xid, c_xid8 xid8, c_macaddr8 macaddr8, c_tid tid,
        c_tsvector tsvector, c_daterange daterange, c_tsrange tsrange, a_date date[],
        a_timestamp timestamp[], a_name name[], d_date day, d_timestamp moment, a_jsonb jsonb[],
        c_json json, c_jsonb jsonb);
      create table moments (id int4 primary key, tenant_id int4, at timestamp, many timestamp[]);
      grant select, update on whole, moments to rowgate_app;
      insert into whole values (1, 1);
      insert into moments values (1, 1, '2026-01-02 04:30', '{2026-01-02 04:30}'),
        (2, 1, '2026-01-01 23:30', '{2026-01-01 23:30}'), (3, 1, null, null)`);
    await waitUntil(async () => (await query("whole")).status === 200);
    await waitUntil(async () => (await query("moments")).status === 200);
  });

  for (const [column, value, reported] of REJECTED) {
    it(`rejects ${value.slice(0, 40)} for ${column}, in filters and fields [TV29] [V3]`, async () => {
      assertRejectedAt(await set(column, value), `fields.${column}`, reported);
      const op = /xid$|tid/.test(column) ? "in" : "eq";
      const sent = op === "in" ? [value] : value;
      const path = op === "in" ? "filters.or[0].value[0]" : "filters.or[0].value";
      assertRejectedAt(await ask(column, sent, op), path, reported);
      assertEquals(await run(`select id from whole where ${column} is not null`), []);
    });
  }

  for (const [column, value, held] of TAKEN) {
    it(`takes ${String(value)} for ${column}, whole [TV29] [V3] [V13]`, async () => {
      for (const [update, updated] of [[set, 1], [set, 0]] as const) {
        assertEquals(assertOk(await update(column, value))["updated"], updated);
        const same = `${column} = '${held.replaceAll("'", "''")}'`;
        assertEquals(await run(`select id from whole where ${same}`), [{ id: 1 }]);
      }
      // What was rounded to fit its column is another value.
      const found = column === "c_timestamp_0" ? [] : [1];
      assertEquals(valuesOf(await ask(column, value), "id"), found);
      assertEquals(valuesOf(await ask(column, [value, value], "in"), "id"), found);
      await run(`update whole set ${column} = null`);
    });
  }

  it("compares times with and without an offset in one list, range and update [TV29] [V3] [V13]", async () => {
    const [there, here] = ["2026-01-01T23:30:00-05:00", "2026-01-01T23:30:00"];
    const find = async (field: string, op: string, value: unknown) => {
      const filters = { and: [{ field, op, value }] };
      return valuesOf(await query("moments", { filters, sort: [{ field: "id" }] }), "id");
    };
    for (
      const [field, a, b] of [["at", there, here], ["many", `{${there}}`, `{${here}}`]] as const
    ) {
      assertEquals(await find(field, "eq", a), [1]);
      assertEquals(await find(field, "neq", a), [2]);
      assertEquals(await find(field, "in", [a, b]), [1, 2]);
      assertEquals(await find(field, "in", [a, null]), [1, 3]);
      assertEquals(await find(field, "in", [b, a, null]), [1, 2, 3]);
      assertEquals(await find(field, "not_in", [a, b]), []);
      assertEquals(await find(field, "not_in", [a, null]), [2]);
      assertEquals(await find(field, "between", [b, a]), [1, 2]);
      assertEquals(await find(field, "gt", b), [1]);
    }
    for (const update of [single, bulk]) {
      const filters = { at: there, many: `{${there}}` };
      assertEquals(
        assertOk(await update("moments", { filters, fields: { many: [there, null] } }))["updated"],
        1,
      );
      const rows = await run("select many::text from moments where id = 1");
      assertEquals(rows, [{ many: '{"2026-01-02 04:30:00",NULL}' }]);
      await run("update moments set many = '{2026-01-02 04:30}' where id = 1");
    }
  });

  it("stores the JSON of each column behind a long list of JSON [TV31] [U9]", async () => {
    const list = Array.from({ length: 3000 }, (_, n) => ({ n }));
    const fields = { a_jsonb: list, c_json: { a: "1" }, c_jsonb: ["2", { b: 3 }] };
    for (const update of [single, bulk]) {
      assertOk(await update("whole", { filters: { id: 1 }, fields }));
      const rows = await run(
        "select cardinality(a_jsonb) n, a_jsonb[3000] last, c_json::jsonb, c_jsonb from whole where id = 1",
      );
      const { c_json, c_jsonb } = fields;
      assertEquals(rows, [{ n: 3000, last: { n: 2999 }, c_json, c_jsonb }]);
      await run("update whole set a_jsonb = null, c_json = null, c_jsonb = null");
    }
  });

  it("names each value that Postgres rejects among those with and without an offset [TV29] [V3]", async () => {
    const value = ["2026-02-30T00:00:00Z", "2026-01-01", "2026-02-31", "2026-01-01Z"];
    const response = await ask("c_timestamp", value, "in");
    assertRejectedAt(response, "filters.or[0].value[0]", "filters.or[0].value[2]: ");
    const mixed = await set("a_timestamp", ["2026-01-01Z", "2026-01-01"]);
    assertRejectedAt(mixed, "fields.a_timestamp", "an offset in all elements or in none");
    assertRejectedAt(
      await set("a_date", ["2026-01-01", "2026-01-01Z"]),
      "fields.a_date[1]",
      "offset",
    );
  });
});
