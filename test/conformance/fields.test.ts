import { assert, assertEquals, assertMatch } from "@std/assert";
import { it } from "@std/testing/bdd";
import { assertOk, recordsOf } from "./assert_response.ts";
import { waitUntil } from "../support/wait_until.ts";
import { describeService } from "./describe_service.ts";

interface ListedField {
  readonly name: string;
  readonly type: string;
  readonly base_type?: string;
  readonly nullable: boolean;
  readonly primary_key: boolean;
  readonly writable: boolean;
  readonly creatable: boolean;
  readonly required: boolean;
  readonly operators: string[];
  readonly enum?: string[];
  readonly comment: string | null;
}

const ALL_OPERATORS = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "like",
  "not_like",
  "in",
  "not_in",
  "between",
  "is_null",
  "is_not_null",
  "ilike",
  "not_ilike",
  "starts_with",
  "contains",
];

describeService("Get Fields", ({ get, kind, query, run }) => {
  const path = (table: string) => `/integration/tables/${table}/fields`;
  const list = async (table: string) => assertOk(await get(path(table)))["fields"] as ListedField[];
  const find = async (table: string, name: string) =>
    (await list(table)).find((field) => field.name === name);

  it("lists the columns in their order, those that a query returns [T48] [S5]", async () => {
    for (
      const table of [
        "deals",
        "everything",
        "order",
        "MixedCase",
        "oddities",
        "measurements",
        "countries",
      ]
    ) {
      const [record] = recordsOf(await query(table, { per_page: 1 }));
      assertEquals((await list(table)).map((field) => field.name), Object.keys(record ?? {}));
    }
  });

  it("responds with success, table, fields and match_keys alone, each field with its members [T47]", async () => {
    const body = assertOk(await get(path("deals")));
    assertEquals(Object.keys(body), ["success", "table", "fields", "match_keys"]);
    assertEquals(body["table"], "deals");
    const members = [
      ...["name", "type", "nullable", "primary_key", "writable", "creatable", "required"],
      ...["operators", "comment"],
    ];
    for (const field of body["fields"] as ListedField[]) {
      assertEquals(
        Object.keys(field).filter((key) => key !== "enum" && key !== "time_zone"),
        members,
      );
    }
  });

  it("reports types by Postgres's names [T49]", async () => {
    const types: Record<string, string> = {
      fid: "int8",
      tenant_id: "int4",
      title: "text",
      probability: "float8",
      closed: "bool",
      owner: "uuid",
      tags: "text[]",
      data: "jsonb",
      modified_at: "timestamptz",
      created_on: "date",
      stage: "deal_stage",
    };
    const fields = await list("deals");
    for (const [name, type] of Object.entries(types)) {
      assertEquals(fields.find((field) => field.name === name)?.type, type, name);
    }
    assert((await find("deals", "amount"))?.type.startsWith("numeric"));
    assertEquals((await find("everything", "a_int8"))?.type, "int8[]");
  });

  it("reports the base type of a domain, beside its name, and of nothing else [T77]", async () => {
    const fields = await list("everything");
    const based = fields.filter((field) => field.base_type !== undefined)
      .map(({ type, base_type }) => `${type} ${base_type}`);
    assertEquals([...new Set(based)].sort(), [
      "cents numeric",
      "int_list int4[]",
      "needed_text text",
      "positive_int int4",
      "positive_int[] int4[]",
      "short_text varchar",
      "small_positive int4",
    ]);
    const { text } = await get("/openapi.json");
    assertMatch(text, /positive_int, a domain of int4/);
  });

  it("reports nullable, key and writable [T47]", async () => {
    const flags = async (table: string, name: string) => {
      const field = await find(table, name);
      return [field?.nullable, field?.primary_key, field?.writable];
    };
    assertEquals(await flags("deals", "fid"), [false, true, false]);
    assertEquals(await flags("deals", "tenant_id"), [false, false, false]);
    assertEquals(await flags("deals", "title"), [false, false, true]);
    assertEquals(await flags("deals", "note"), [true, false, true]);
    assertEquals(await flags("invoices", "gross"), [true, false, false]);
    assertEquals(await flags("invoices", "serial_no"), [false, false, false]);
    assertEquals(await flags("order_lines", "line_no"), [false, true, false]);
    assertEquals(await flags("countries", "name"), [false, false, false]);
    assertEquals(await flags("everything", "d_needed"), [false, false, true]);
  });

  it("reports what a new record can set, and what it must [T88]", async () => {
    const flags = async (table: string, name: string) => {
      const field = await find(table, name);
      return [field?.creatable, field?.required];
    };
    // The role of the real database has no right INSERT.
    const may = kind === "embedded";
    assertEquals(await flags("deals", "tenant_id"), [false, false]);
    assertEquals(await flags("deals", "title"), [may, may]);
    assertEquals(await flags("deals", "note"), [may, false]);
    assertEquals(await flags("invoices", "gross"), [false, false]);
    assertEquals(await flags("invoices", "serial_no"), [false, false]);
    assertEquals(await flags("countries", "name"), [false, false]);
    assertEquals(await flags("everything", "d_needed"), [may, false]);
  });

  it("reports the labels of an enum in their order, and of no other type [T47]", async () => {
    assertEquals((await find("deals", "stage"))?.enum, [
      "lead",
      "qualified",
      "offer",
      "won",
      "lost",
    ]);
    assertEquals((await find("everything", "c_enum_mixed"))?.enum, [
      "red",
      "Green",
      'it\'s "blue"',
    ]);
    assert(!("enum" in (await find("deals", "title") ?? {})));
  });

  it("reports the comment or null [T47]", async () => {
    assertEquals((await find("deals", "amount"))?.comment, "Expected value in euro");
    assertEquals((await find("deals", "title"))?.comment, null);
  });

  it("reports exactly the operators that a query takes [T50]", async () => {
    const samples: Record<string, unknown> = {};
    const [record] = await run(
      "select (to_jsonb(e) || jsonb_build_object('c_xml', '<a/>'))::text as row from everything e where id = 1",
    );
    Object.assign(samples, JSON.parse(String(record?.["row"])));
    for (const field of await list("everything")) {
      const raw = samples[field.name];
      const value = typeof raw === "object" && raw !== null ? "{}" : raw;
      const conditions = ALL_OPERATORS.map((op) => {
        const given = /null/.test(op)
          ? {}
          : op === "between"
          ? { value: [value, value] }
          : /in$/.test(op)
          ? { value: [value] }
          : /like|starts/.test(op)
          ? { value: "%" }
          : op === "contains" && raw === null
          ? { value: 1 }
          : { value };
        return { field: field.name, op, ...given };
      });
      const ask = (and: unknown[]) => query("everything", { filters: { and }, select: ["id"] });
      const isReported = ({ op }: { op: string }) => field.operators.includes(op);
      // One request takes all that are reported, unless a value is rejected: then each is sent alone.
      const { status } = await ask(conditions.filter(isReported));
      for (const condition of conditions) {
        if (status === 200 && isReported(condition)) continue;
        const response = await ask([condition]);
        const rejected = response.status === 400 &&
          String(response.body["error"]).startsWith("filters.and[0].op: ");
        assertEquals(
          !rejected,
          isReported(condition),
          `${field.name} ${condition.op}: ${response.text.slice(0, 200)}`,
        );
      }
    }
  });

  it("lists only like and the tests for null as operators of json, xml and point [T50] [Q54]", async () => {
    for (const name of ["c_json", "c_xml", "c_point"]) {
      const operators = (await find("everything", name))?.operators ?? [];
      for (const op of ["eq", "neq", "gt", "gte", "lt", "lte", "in", "not_in", "between"]) {
        assert(!operators.includes(op), `${name} ${op}`);
      }
      for (const op of ["is_null", "is_not_null"]) assert(operators.includes(op), `${name} ${op}`);
    }
    assertEquals(
      [...(await find("deals", "title"))?.operators ?? []].sort(),
      ALL_OPERATORS.filter((op) => op !== "contains").sort(),
    );
    for (const name of ["a_int4", "c_jsonb", "c_int4range"]) {
      assert((await find("everything", name))?.operators.includes("contains"), name);
    }
  });

  it("carries an ETag and responds with 304, until the table changes [T51]", async () => {
    await run(
      "create table etagged (id int4 primary key, tenant_id int4 not null, a text); grant select, update on etagged to rowgate_app",
    );
    const first = await get(path("etagged"));
    await waitUntil(async () => (await get(path("etagged"))).status !== 404);
    const etag = (first.status === 200 ? first : await get(path("etagged"))).headers.get("etag") ??
      "";
    const conditional = { headers: { "if-none-match": etag } };
    assertEquals((await get(path("etagged"), conditional)).status, 304);
    await run("alter table etagged add column b int4");
    await waitUntil(async () => (await query("etagged", { select: ["b"] })).status === 200);
    const changed = await get(path("etagged"), conditional);
    assertEquals(changed.status, 200);
    assert(changed.headers.get("etag") !== etag);
  });
});
