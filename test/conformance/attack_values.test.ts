import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { waitUntil } from "../support/wait_until.ts";
import {
  assertMatched,
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
  valuesOf,
} from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** Texts that stores and converters like to change. */
const TEXTS = [
  "👩‍👩‍👧‍👦 🏳️‍🌈 🇩🇪",
  "e\u0301 \u00e9 ﬁ Å Å",
  "שלום \u202eabc\u202c العربية",
  "\u2028\u2029\u0085\u00a0\ufeff",
  "\ufffd \uffff \u{10ffff} \u{e0001}",
  "\u0001\u001f\u007f\t\r\n",
  " leading and trailing ",
  "\\u0041 \\n %41 &lt; <b>",
];

/** A column of `everything`, and what must be rejected for it in filters and in fields. */
const REJECTED: readonly [string, unknown][] = [
  ["c_date", "2024-02-30"],
  ["c_date", "10000000-01-01"],
  ["c_date", "0000-01-01"],
  ["c_timestamp", "2026-01-01T24:00:01"],
  ["c_timestamptz", "2026-01-01T00:00:00+99:00"],
  ["c_timestamptz", "2026-01-01T00:00:00 Mars/Base"],
  ["c_timestamptz", "300000-01-01T00:00:00Z"],
  ["c_time", "24:00:01"],
  ["c_interval", "P1X"],
  ["c_interval", "1 lightyear"],
  ["c_int4range", "[1,2"],
  ["c_int4range", "[9,1]"],
  ["c_varbit_5", "12"],
  ["c_bytea", "\\x0"],
  ["c_uuid", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a1z}"],
  ["c_enum", "lead "],
  ["c_enum", ""],
  ["c_oid", "-"],
  ["c_float8", "1e309"],
  ["c_float8", "1e-400"],
  ["c_numeric", "1e200000"],
  ["c_int8", "9".repeat(5000)],
  ["c_money", "1e30 dollars"],
  ["c_tsquery", "a & & b"],
  ["c_inet", "1.2.3.4/33"],
  ["c_name", "n".repeat(64)],
  ["c_char_internal", "ab"],
  ["c_timestamptz", "2026-01-31 12:00 ../../etc/passwd"],
  ["a_int4", "{{{{{{{1}}}}}}}"],
  ["a_int4", "[1:2147483647]={1}"],
  ["a_text", "{".repeat(100_000)],
];

describeService("attacks by values", ({ kind, query, single, bulk, run, service }) => {
  const ask = (field: string, value: unknown, op = "eq") =>
    query("everything", {
      filters: { and: [{ field, op, value }] },
      select: ["id"],
      sort: [{ field: "id" }],
    });
  const askRaw = (field: string, literal: string) =>
    query("everything", undefined, {
      raw: `{"filters": {"and": [{"field": "${field}", "op": "eq", "value": ${literal}}]}}`,
    });
  const set = (fields: Record<string, unknown>) =>
    single("everything", { filters: { id: 2 }, fields });

  it("finds an integer by number and by string, in each of its spellings [TV1] [TV5]", async () => {
    for (const value of [1234, "1234", " 1234 ", "+1234", "01234"]) {
      assertEquals(valuesOf(await ask("c_int4", value), "id"), [1], String(value));
    }
    for (const literal of ["1234.0", "12.34e2", "1.234E3", "1234e0", "12340e-1"]) {
      assertEquals(valuesOf(await askRaw("c_int4", literal), "id"), [1], literal);
    }
    await run(
      "update everything set c_int4 = 100000 where id = 11; update everything set c_int4 = 1 where id = 12",
    );
    assertEquals(valuesOf(await askRaw("c_int4", "1E5"), "id"), [11]);
    assertEquals(valuesOf(await askRaw("c_int4", "0.1e1"), "id").includes(12), true);
    assertEquals(valuesOf(await askRaw("c_int4", "-0"), "id"), [5]);
    assertRejectedAt(await askRaw("c_int4", "1e400"), "filters.and[0].value", "string");
    assertRejectedAt(await askRaw("c_float8", "-1e400"), "filters.and[0].value", "string");
  });

  it("updates exactly the row of an integer that no double holds [TV4]", async () => {
    const fields = { c_varchar: "exact" };
    const filters = { c_int8: "9007199254740993" };
    assertEquals(assertOk(await single("everything", { filters, fields }))["matched"], 1);
    assertEquals(await run("select id from everything where c_varchar = 'exact'"), [{ id: 5 }]);
    const beside = { filters: { c_int8: "9007199254740992" }, fields };
    assertMatched(await single("everything", beside), 404, 0);
  });

  it("stores 40 digits and 20 decimals of a string exactly [TV6]", async () => {
    for (const text of ["1234567890123456789012345678901234567890", "0.12345678901234567890"]) {
      assertOk(await set({ c_numeric: text }));
      assertEquals(await run("select c_numeric::text as n from everything where id = 2"), [{
        n: text,
      }]);
      assertEquals(valuesOf(await ask("c_numeric", text), "id"), [2]);
    }
  });

  it("returns each of 1,000 rows a microsecond apart once to a poller that asks with gt [TV9]", async () => {
    await run(`create table ticks (id int4 primary key, tenant_id int4, at timestamptz);
      grant select on ticks to rowgate_app;
      insert into ticks select n, 1 + n / 1001, timestamptz '2026-01-31 23:59:59.9995Z' + n * interval '1 microsecond'
        from generate_series(1, 1005) n`);
    await waitUntil(async () => (await query("ticks")).status === 200);
    const seen: unknown[] = [];
    for (let last = "2026-01-01T00:00:00Z";;) {
      const body = {
        filters: { and: [{ field: "at", op: "gt", value: last }] },
        sort: [{ field: "at" }],
        per_page: 200,
      };
      const records = recordsOf(await query("ticks", body, { headers: { prefer: "count=none" } }));
      if (records.length === 0) break;
      seen.push(...records.map(({ id }) => id));
      last = String(records.at(-1)!["at"]);
    }
    assertEquals(seen, Array.from({ length: 1000 }, (_, n) => n + 1));
  });

  it("reads infinity, BC, 24:00, leap seconds and now as Postgres does [TV10]", async () => {
    const same: readonly [string, string, number[]][] = [
      ["c_timestamptz", "infinity", [3]],
      ["c_timestamptz", "-infinity", [4]],
      ["c_timestamptz", "0044-03-15 00:00:00Z BC", [5]],
      ["c_date", "0044-03-15 BC", [5]],
      ["c_date", "infinity", [3]],
      ["c_time", "24:00", [3]],
      ["c_timestamp", "2026-01-31 12:33:60", []],
      ["c_timestamptz", "9999-12-31T23:59:59.999999Z", [6]],
      ["c_timestamptz", "now", []],
      ["c_date", "yesterday", []],
    ];
    for (const [field, value, ids] of same) {
      assertEquals(valuesOf(await ask(field, value), "id"), ids, `${field} ${value}`);
    }
    assertOk(await set({ c_timestamptz: "2016-12-31T23:59:60Z", c_time: "23:59:60" }));
    assertEquals(
      await run(
        "select c_timestamptz = '2017-01-01Z' as leapt, c_time::text as time from everything where id = 2",
      ),
      [{ leapt: true, time: "24:00:00" }],
    );
  });

  for (const [field, value] of REJECTED) {
    const reported = JSON.stringify(value).slice(0, 40);
    it(`rejects ${reported} for ${field}, in filters and fields, changing nothing [TV10] [TV24]`, async () => {
      const before = await checksumTenant(service().database.admin, 1);
      assertRejectedAt(await ask(field, value), "filters.and[0].value");
      assertRejectedAt(await ask(field, [null, value], "in"), "filters.and[0].value[1]");
      for (const update of [single, bulk]) {
        const body = { filters: { id: 2 }, fields: { [field]: value } };
        assertRejectedAt(await update("everything", body), `fields.${field}`);
      }
      assertEquals(await checksumTenant(service().database.admin, 1), before);
    });
  }

  it("finds and stores the bytes of bytea, not those of their text [TV12]", async () => {
    assertEquals(valuesOf(await ask("c_bytea", "\\x00ff10"), "id"), [1]);
    assertEquals(valuesOf(await ask("c_bytea", "\\x5c7830306666"), "id"), []);
    assertOk(await set({ c_bytea: "\\x00ff00" }));
    assertEquals(await run("select encode(c_bytea, 'hex') as hex from everything where id = 2"), [{
      hex: "00ff00",
    }]);
    assertEquals(valuesOf(await ask("c_bytea", "\\x00FF00"), "id"), [2]);
  });

  it("rejects U+0000 anywhere within JSON for a column, and changes nothing [TV14]", async () => {
    const before = await checksumTenant(service().database.admin, 1);
    for (const field of ["c_json", "c_jsonb"]) {
      for (const value of ['"\\u0000"', '["a", {"b": "x\\u0000y"}]', '{"\\u0000": 1}']) {
        const raw = `{"filters": {"id": 2}, "fields": {"${field}": ${value}}}`;
        for (const update of [single, bulk]) {
          const { status, body } = await update("everything", undefined, { raw });
          assertEquals(status, 400);
          assertMatch(String(body["error"]), new RegExp(`^fields\\.${field}`));
        }
      }
    }
    assertEquals(await checksumTenant(service().database.admin, 1), before);
  });

  it("shows a composite as an object, finds it, and sets none from an object [TV25] [T54]", async () => {
    const response = await query("everything", {
      filters: { and: [{ field: "id", op: "eq", value: 1 }] },
      select: ["c_composite", "a_composite"],
    });
    const address = { street: "High Street", number: 1, city: "Leeds" };
    assertEquals(recordsOf(response), [{ c_composite: address, a_composite: [address] }]);
    assertRejectedAt(await set({ c_composite: address }), "fields.c_composite");
  });

  it("returns every text exactly, and finds it [TV28]", async () => {
    for (const text of [...TEXTS, "🚀é".repeat(50_000)]) {
      assertOk(await set({ c_text: text, c_jsonb: { text }, a_text: [text, null] }));
      const filters = { and: [{ field: "id", op: "eq", value: 2 }] };
      const found = await query("everything", { filters, select: ["c_text", "c_jsonb", "a_text"] });
      assertEquals(recordsOf(found), [{ c_text: text, c_jsonb: { text }, a_text: [text, null] }]);
      assertEquals(valuesOf(await ask("c_text", text), "id"), [2]);
    }
  });

  it("does not normalise text: two forms of one letter are two values [TV28]", async () => {
    assertOk(await set({ c_text: "caf\u00e9" }));
    assertEquals(valuesOf(await ask("c_text", "cafe\u0301"), "id"), []);
    assertEquals(assertOk(await set({ c_text: "cafe\u0301" }))["updated"], 1);
  });

  it("keeps bounds and nesting of arrays that were stored, and takes literals with both", async () => {
    const bounded = "[2:3]={1,2}";
    assertOk(await set({ a_int4: [1, 2] }));
    assertEquals(valuesOf(await ask("a_int4", "{1,2}"), "id").includes(2), true);
    assertEquals(valuesOf(await ask("a_int4", bounded), "id"), []);
    await run(`update everything set a_int4 = '${bounded}' where id = 2`);
    assertEquals(valuesOf(await ask("a_int4", bounded), "id"), [2]);
    for (
      const value of [[[1], [2, 3]], [[1, 2], 3], "[2:3]={}", "{{1,2},{3}}", "{1,2", "[9:1]={1}"]
    ) {
      assertRejected(await set({ a_int4: value }), 400, /^fields\.a_int4/);
    }
  });

  it("serves types with hostile names and labels", async () => {
    await run(`create type "x""; drop table deals; --" as enum ('a', 'b''"', '');
      create domain "d ' $$" as text check (value <> 'no');
      create table hostile_types (id int4 primary key, tenant_id int4, e "x""; drop table deals; --", d "d ' $$");
      insert into hostile_types values (1, 1, 'a', 'x'), (1001, 2, 'a', 'x');
      grant select, update on hostile_types to rowgate_app`);
    await waitUntil(async () => (await query("hostile_types")).status === 200);
    for (const fields of [{ e: "b'\"" }, { e: "" }, { d: "$1" }]) {
      assertOk(await single("hostile_types", { filters: { id: 1 }, fields }));
      assertEquals(
        assertOk(await bulk("hostile_types", { filters: fields, fields }))["updated"],
        0,
      );
    }
    for (const fields of [{ e: "c" }, { d: "no" }]) {
      const [name] = Object.keys(fields);
      const response = await single("hostile_types", { filters: { id: 1 }, fields });
      assertRejectedAt(response, `fields.${name}`);
    }
    assertOk(await query("deals"));
  });

  it("serves a table as wide as Postgres has one", async () => {
    const columns = Array.from({ length: 1590 }, (_, n) => `c${n}`);
    await run(
      `create table widest (id int4 primary key, tenant_id int4, ${
        columns.map((name) => `${name} int4`).join()
      });
      insert into widest (id, tenant_id) values (1, 1), (1001, 2); grant select, update on widest to rowgate_app`,
    );
    await waitUntil(async () => (await query("widest")).status === 200);
    const all = Object.fromEntries(columns.map((name, n) => [name, n]));
    assertEquals(
      assertOk(await single("widest", { filters: { id: 1 }, fields: all }))["updated"],
      1,
    );
    assertEquals(assertOk(await bulk("widest", { filters: all, fields: { c0: 7 } }))["updated"], 1);
    const headers = { accept: "application/json;IEEE754Compatible=true" };
    assertEquals(recordsOf(await query("widest", {}, { headers })), [{
      id: 1,
      tenant_id: 1,
      ...all,
      c0: 7,
    }]);
  });

  it("expands no entity of XML, and reads no file through one", async () => {
    const bomb = '<!DOCTYPE b [<!ENTITY a "aaaaaaaaaa">' +
      Array.from(
        { length: 9 },
        (_, n) => `<!ENTITY ${"bcdefghij"[n]} "${`&${"abcdefghi"[n]};`.repeat(10)}">`,
      ).join("") +
      "]><b>&j;</b>";
    const outside = '<!DOCTYPE b [<!ENTITY f SYSTEM "file:///etc/passwd">]><b>&f;</b>';
    for (const value of [bomb, outside, "<a>", "<a></b>", "&nothing;"]) {
      const response = await set({ c_xml: value });
      if (response.status !== 200) assertRejectedAt(response, "fields.c_xml");
      const filters = { and: [{ field: "id", op: "eq", value: 2 }] };
      const { text } = await query("everything", { filters, select: ["c_xml"] });
      assert(text.length < 3000 && !text.includes("root:"), text.slice(0, 300));
    }
  });

  it("stores and returns JSON as deep and as long as a body may be", async () => {
    const deep = "[".repeat(60) + "]".repeat(60);
    const raw = `{"filters": {"id": 2}, "fields": {"c_json": ${deep}, "c_jsonb": ${deep}}}`;
    assertOk(await single("everything", undefined, { raw }));
    const long = Array.from({ length: 80_000 }, (_, n) => n % 10);
    assertOk(await set({ c_jsonb: { long, text: "x".repeat(500_000) } }));
    const filters = { and: [{ field: "id", op: "eq", value: 2 }] };
    const { text } = await query("everything", { filters, select: ["c_json", "c_jsonb"] });
    assertStringIncludes(text, deep);
    assert(text.length > 660_000, kind);
  });
});
