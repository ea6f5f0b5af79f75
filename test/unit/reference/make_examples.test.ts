import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { DescribedField } from "../../../src/describe/reference/described.ts";
import { type ExampleTable, makeExamples } from "../../../src/describe/reference/make_examples.ts";
import { readTable } from "../../../src/describe/reference/read_table.ts";

function field(name: string, part: Partial<DescribedField> = {}): DescribedField {
  return {
    name,
    type: "text",
    nullable: false,
    primary_key: false,
    writable: true,
    operators: ["eq", "lt"],
    comment: null,
    ...part,
  };
}

const id = field("id", { type: "int8", primary_key: true, writable: false });
const status = field("status", { type: "status", enum: ["open", "closed", "lost"] });
const total = field("total", { type: "numeric" });
const on = field("on", { type: "date" });
const table = { name: "t", primary_key: ["id"], writable: true, changes: true, comment: null };
const scopes = ["query", "update"];

function make(of: Partial<ExampleTable>) {
  const examples = makeExamples({ table, fields: [id], scopes, ...of });
  return new Map(examples.map((example) => [example.id, example]));
}

describe("the examples of a table", () => {
  it("name its columns, with values of their types", () => {
    const examples = make({ fields: [id, status, total, on] });
    assertEquals(examples.get("queryRecords")!.request.body, {
      filters: {
        and: [
          { field: "status", op: "in", value: ["open", "closed"] },
          { field: "total", op: "gte", value: 19.9 },
        ],
      },
      select: ["id", "status", "total", "on"],
      sort: [{ field: "on", direction: "desc" }],
      per_page: 50,
    });
    assertEquals(examples.get("updateSingleRecord")!.request.body, {
      filters: { id: 12 },
      fields: { status: "open" },
    });
  });

  it("have the values of a row of the tenant, and change nothing when they are pasted", () => {
    const row = { id: "9007199254740993", status: "closed", total: "12.50", on: "2026-01-02" };
    const examples = make({ fields: [id, status, total, on], row });
    assertEquals(examples.get("queryRecords")!.request.body, {
      filters: {
        and: [
          { field: "status", op: "in", value: ["open", "closed"] },
          { field: "total", op: "gte", value: 12.5 },
        ],
      },
      select: ["id", "status", "total", "on"],
      sort: [{ field: "on", direction: "desc" }],
      per_page: 50,
    });
    // A double does not hold this key.
    const filters = { id: "9007199254740993" };
    const single = { filters, fields: { status: "open" } };
    assertEquals(examples.get("updateSingleRecord")!.request.body, single);
    assertEquals(examples.get("updateBatchOfRecords")!.request.body, { updates: [single] });
    assertEquals(examples.get("updateBulkRecords")!.request.body, {
      filters: { status: "closed" },
      fields: { status: "open" },
    });
    for (const { request } of examples.values()) {
      assertEquals(request.method === "PATCH", request.prefer?.startsWith("tx=rollback") === true);
    }
  });

  it("are of what the token and the table allow", () => {
    const list = (of: Partial<ExampleTable>) => [...make(of).keys()];
    const fields = [id, status];
    const updates = ["updateSingleRecord", "updateBulkRecords", "updateBatchOfRecords"];
    assertEquals(list({ fields }), ["queryRecords", ...updates, "listChanges"]);
    assertEquals(list({ fields, scopes: ["query"] }), ["queryRecords", "listChanges"]);
    assertEquals(list({ fields, scopes: ["update"] }), updates);
    assertEquals(list({ fields, table: { ...table, changes: false, writable: false } }), [
      "queryRecords",
    ]);
    assertEquals(list({ fields: [id] }), ["queryRecords", "listChanges"]);
    assertEquals(list({ fields: [] }), []);
  });

  it("make do with the columns that there are", () => {
    const examples = make({ fields: [id, field("note")] });
    assertEquals(examples.get("updateBulkRecords")!.request.body, {
      filters: { note: "text" },
      fields: { note: "text" },
    });
    const long = make({ fields: [id, field("note")], row: { id: "7", note: "x".repeat(99) } });
    assertEquals(long.get("updateBulkRecords")!.request.body, {
      filters: { id: 7 },
      fields: { note: "x".repeat(99) },
    });
  });
});

describe("readTable", () => {
  it("runs the query, takes the row with the fewest NULLs, and cuts long values", async () => {
    const sent: unknown[] = [];
    const note = field("note", { nullable: true });
    const read = await readTable(table, {
      scopes: ["query"],
      send: (request) => {
        sent.push(request);
        const rows = [{ id: "1", note: null }, { id: "2", note: "é".repeat(500) }];
        const fields = { success: true, fields: [id, note] };
        const page = { success: true, table: "t", page: 1, per_page: 2, total: 2, records: rows };
        return Promise.resolve(request.method === "GET" ? fields : page);
      },
    });
    assertEquals(sent.length, 3);
    assertEquals(read!.examples[0]!.response, {
      success: true,
      table: "t",
      page: 1,
      per_page: 2,
      total: 2,
      records: [{ id: 1, note: null }, { id: 2, note: `${"é".repeat(120)}…` }],
    });
    const changes = read!.examples[1]!.response as { readonly changes: readonly unknown[] };
    assertEquals(changes.changes, [
      { type: "upsert", key: { id: 2 }, record: { id: 2, note: `${"é".repeat(120)}…` } },
    ]);
  });

  it("reads no row where the values are not wanted", async () => {
    const sent: string[] = [];
    await readTable(table, {
      scopes,
      values: false,
      send: ({ path }) => Promise.resolve(void sent.push(path)),
    });
    assertEquals(sent, ["integration/tables/t/fields"]);
  });
});
