import { assert, assertEquals } from "@std/assert";
import { it } from "@std/testing/bdd";
import { checksumTenant } from "../support/checksum.ts";
import { waitUntil } from "../support/wait_until.ts";
import {
  assertOk,
  assertRejected,
  assertRejectedAt,
  recordsOf,
  valuesOf,
} from "./assert_response.ts";
import { describeService } from "./describe_service.ts";

/** As a path carries them. */
const TABLES = [
  "deals;drop%20table%20x",
  "deals%22",
  'deals"',
  "deals--",
  "deals%2F..%2Fguests",
  "pg_catalog.pg_class",
  "%64eals",
  "d%C3%A9als",
  "déals",
  "deals%0A",
  "deals%00",
  "deals%E2%80%8B",
  "ｄｅａｌｓ",
  "dеals",
  "deals%2520",
];

const COLUMNS = [
  'fid"',
  "fid;",
  "fid ",
  " fid",
  "deals.fid",
  "public.deals.fid",
  '"fid"',
  "fid\u0000",
  "fid\n",
  "fid--",
  "fid::text",
  "ｆｉｄ",
  "fıd",
  "f\u00adid",
  "fid\u200b",
  "*",
  "count(*)",
];

const VALUES = [
  "' or 1=1--",
  "$1",
  "$1::text",
  "\\'",
  "%s",
  "{{7*7}}",
  "${7*7}",
  "'; drop table deals; --",
  '"',
  "\\",
  "\\x41",
  "E'\\x41'",
  "$$a$$",
  ":name",
  "?",
  "now()",
];

describeService("attacks by injection", ({ query, single, bulk, get, run, service }) => {
  const mine = () => checksumTenant(service().database.admin, 1);

  for (const table of TABLES) {
    it(`rejects the table ${JSON.stringify(table)} at its path, undecoded [IN1] [IN2]`, async () => {
      const body = { filters: { fid: 1 }, fields: { note: "x" } };
      for (const response of [await query(table), await single(table, body)]) {
        assertRejectedAt(response, "table");
      }
      assertRejectedAt(await get(`/integration/tables/${table}/fields`), "table");
    });
  }

  for (const field of COLUMNS) {
    it(`rejects the column ${JSON.stringify(field)} wherever one is named [IN3] [IN20]`, async () => {
      const filters = { or: [{ field, op: "is_null" }] };
      assertRejectedAt(await query("deals", { filters }), "filters.or[0].field");
      assertRejectedAt(await query("deals", { select: [field] }), "select[0]");
      assertRejectedAt(await query("deals", { sort: [{ field }] }), "sort[0].field");
      for (const update of [single, bulk]) {
        assertRejected(
          await update("deals", { filters: { [field]: 1 }, fields: { note: "x" } }),
          400,
          /^filters/,
        );
        assertRejected(
          await update("deals", { filters: { fid: 1 }, fields: { [field]: 1 } }),
          400,
          /^fields/,
        );
      }
    });
  }

  it("never truncates a name: 63, 64 and 65 bytes are three names [IN7]", async () => {
    const known = "a23456789_123456789_123456789_123456789_123456789_123456789_abc";
    assertOk(await query("MixedCase", { select: [known] }));
    for (const field of [known.slice(0, -1), `${known.slice(0, -1)}d`, `${known}d`, `${known}de`]) {
      assertRejectedAt(await query("MixedCase", { select: [field] }), "select[0]");
      const update = { filters: { Id: 1 }, fields: { [field]: 1 } };
      assertRejectedAt(await single("MixedCase", update), `fields.${field}`);
    }
    await run(`create table ${"t".repeat(63)} (id int4 primary key, tenant_id int4, name text);
      grant select on ${"t".repeat(63)} to rowgate_app`);
    // The catalogue is read again at most once a second.
    await waitUntil(async () => (await query("t".repeat(63))).status === 200);
    for (const length of [62, 64, 65, 1000]) assertRejected(await query("t".repeat(length)), 404);
  });

  for (const op of ["eq; drop", "eq--", "= 1 or 1", "Eq", "eq ", "hasOwnProperty", "valueOf"]) {
    it(`rejects the operator ${JSON.stringify(op)} [IN8]`, async () => {
      const filters = { and: [{ field: "fid", op, value: 1 }] };
      assertRejectedAt(await query("deals", { filters }), "filters.and[0].op");
    });
  }

  for (const direction of ["asc; select", "desc nulls last", "asc ", "asc,fid"]) {
    it(`rejects the direction ${JSON.stringify(direction)} [IN9]`, async () => {
      const sort = [{ field: "fid", direction }];
      assertRejectedAt(await query("deals", { sort }), "sort[0].direction");
    });
  }

  it("stores and finds values that look like SQL as the data they are [IN10]", async () => {
    for (const value of VALUES) {
      const set = await single("guests", { filters: { id: 1 }, fields: { name: value } });
      assertEquals(assertOk(set)["fields"], { name: value });
      for (const condition of [{ op: "eq", value }, { op: "in", value: [value, "'"] }]) {
        const filters = { and: [{ field: "name", ...condition }] };
        const found = await query("guests", { filters });
        assertEquals(recordsOf(found), [{ id: 1, tenant_id: 1, name: value }]);
      }
    }
  });

  it("rejects U+0000 and lone surrogates in keys, patterns, lists and JSON, and changes nothing [IN11] [IN12]", async () => {
    const before = await mine();
    for (const bad of ["\\u0000", "\\ud800", "\\udc00", "\\udc00\\ud800", "a\\ud800\\u0041"]) {
      const queries = [
        `{"select": ["${bad}"]}`,
        `{"${bad}": 1}`,
        `{"filters": {"${bad}": []}}`,
        `{"filters": {"and": [{"field": "title", "op": "like", "value": "%${bad}"}]}}`,
        `{"filters": {"and": [{"field": "title", "op": "in", "value": ["x", "${bad}"]}]}}`,
        `{"filters": {"and": [{"field": "title", "op": "between", "value": ["x", "${bad}"]}]}}`,
        `{"filters": {"and": [{"field": "title", "op": "eq", "value": "x", "${bad}": 1}]}}`,
      ];
      for (const raw of queries) assertRejected(await query("deals", undefined, { raw }), 400);
      const updates = [
        `{"filters": {"${bad}": 1, "fid": 1}, "fields": {"note": "x"}}`,
        `{"filters": {"fid": 1}, "fields": {"${bad}": "x"}}`,
        `{"filters": {"fid": 1}, "fields": {"data": {"a": ["${bad}"]}}}`,
        `{"filters": {"fid": 1}, "fields": {"data": {"${bad}": 1}}}`,
        `{"filters": {"fid": 1}, "fields": {"tags": ["${bad}"]}}`,
      ];
      for (const raw of updates) {
        for (const update of [single, bulk]) {
          assertRejected(await update("deals", undefined, { raw }), 400);
        }
      }
    }
    assertEquals(await mine(), before);
  });

  it("applies constructor and __proto__ beside another filter where they are columns [IN14]", async () => {
    for (const name of ["constructor", "__proto__"]) {
      const [record] = recordsOf(
        await query("order", { filters: { and: [{ field: "id", op: "eq", value: 2 }] } }),
      );
      const value = Object.getOwnPropertyDescriptor(record, name)?.value;
      const fields = { user: `by ${name}` };
      const none = await bulk("order", { filters: { id: 3, [name]: value }, fields });
      assertEquals(assertOk(none)["updated"], 0);
      const one = await bulk("order", { filters: { id: 2, [name]: value }, fields });
      assertEquals(assertOk(one)["updated"], 1);
    }
  });

  it("rejects __proto__, constructor and prototype as members, and changes no prototype [IN13] [IN15]", async () => {
    const before = await mine();
    for (const key of ["__proto__", "constructor", "prototype"]) {
      const hidden = `"${key}": {"filters": {}, "polluted": 1, "isAdmin": true}`;
      const queries = [
        `{${hidden}}`,
        `{"filters": {${hidden}}}`,
        `{"filters": {"and": [{${hidden}}]}}`,
        `{"filters": {"and": [{"field": "fid", "op": "eq", "value": 1, ${hidden}}]}}`,
        `{"filters": {"and": [{"field": "fid", "op": "eq", "value": {${hidden}}}]}}`,
        `{"sort": [{"field": "fid", ${hidden}}]}`,
      ];
      for (const raw of queries) assertRejected(await query("deals", undefined, { raw }), 400, key);
      const updates = [
        `{"filters": {"fid": 1}, "fields": {"note": "x"}, ${hidden}}`,
        `{${hidden}}`,
        `{"filters": {"fid": 1, ${hidden}}, "fields": {"note": "x"}}`,
        `{"filters": {"status": "open", "${key}": 1}, "fields": {"note": "x"}}`,
        `{"filters": {"fid": 1}, "fields": {"note": "x", ${hidden}}}`,
      ];
      for (const raw of updates) {
        for (const update of [single, bulk]) {
          assertRejected(await update("deals", undefined, { raw }), 400, key);
        }
      }
    }
    for (const name of ["filters", "polluted", "isAdmin"]) {
      assertEquals(Reflect.get({}, name), undefined);
    }
    assertEquals(await mine(), before);
  });

  it("rejects filters and fields that are not objects [IN16]", async () => {
    for (const wrong of [["a", "b"], [], "a", 1, true, null]) {
      for (const update of [single, bulk]) {
        assertRejectedAt(
          await update("deals", { filters: wrong, fields: { note: "x" } }),
          "filters",
        );
        assertRejectedAt(await update("deals", { filters: { fid: 1 }, fields: wrong }), "fields");
      }
    }
  });

  it("takes patterns of thousands of wildcards for what they say [IN17]", async () => {
    const ask = async (value: string) =>
      valuesOf(
        await query("guests", {
          filters: { and: [{ field: "name", op: "like", value }] },
          sort: [{ field: "id" }],
        }),
        "id",
      );
    await run("update guests set name = 'Guest ' || id where tenant_id = 1");
    assertEquals(await ask("%".repeat(10_000)), [1, 2, 3, 4, 5]);
    assertEquals(await ask("_".repeat(7)), [1, 2, 3, 4, 5]);
    assertEquals(await ask("_".repeat(8)), []);
    assertEquals(await ask(`${"%_".repeat(3)}%2`), [2]);
    assertEquals(await ask(`${"%a".repeat(999)}%`), []);
    assertEquals(await ask("\\%"), []);
    assertEquals(await ask("\\G\\u\\e\\s\\t\\ 3"), [3]);
  });

  it("responds to a hidden column, at any depth, with the text of an unknown one [IN19]", async () => {
    const filters = (field: string) => ({
      or: [{ and: [{ or: [{ field, op: "gt", value: 5 }] }] }, {
        field: "fid",
        op: "eq",
        value: 1,
      }],
    });
    const bodies = [
      (field: string) => ({ filters: filters(field) }),
      (field: string) => ({ select: [field] }),
      (field: string) => ({ sort: [{ field }] }),
    ];
    for (const body of bodies) {
      const reported = async (field: string) =>
        assertRejected(await query("deals", body(field)), 400).replaceAll(field, "NAME");
      assertEquals(await reported("secret_score"), await reported("secret_zqxjk"));
    }
    for (const member of ["filters", "fields"]) {
      const reported = async (field: string) => {
        const body = { filters: { fid: 1 }, fields: { note: "x" }, [member]: { [field]: 5 } };
        return assertRejected(await single("deals", body), 400).replaceAll(field, "NAME");
      };
      assertEquals(await reported("secret_score"), await reported("secret_zqxjk"));
    }
  });

  it("still serves all its tables afterwards", async () => {
    assert(recordsOf(await query("deals")).length > 0);
  });
});
