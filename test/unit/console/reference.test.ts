import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Field } from "../../../src/console/api.ts";
import { readReference } from "../../../src/console/reference_document.ts";
import { makeSample } from "../../../src/console/sample_request.ts";
import { describeService } from "../../../src/interface/openapi/document.ts";

function column(name: string, part: Partial<Field> = {}): Field {
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

describe("the document that the reference shows", () => {
  const reference = readReference(describeService());

  it("has the operations of each tag with the examples of the OpenAPI document", () => {
    assertEquals(
      reference.sections.map(({ name, operations }) => [name, operations.map(({ id }) => id)]),
      [
        ["Records", [
          "queryRecords",
          "updateSingleRecord",
          "updateBulkRecords",
          "updateBatchOfRecords",
          "listChanges",
        ]],
        ["Catalogue", ["getTables", "getFields", "getToken"]],
        ["Webhooks", ["createWebhook", "listWebhooks", "getWebhook", "deleteWebhook"]],
      ],
    );
    const [query] = reference.sections[0]!.operations;
    assertEquals(query!.request.path, "integration/tables/orders/query");
    assert(query!.request.body !== undefined && query!.response !== undefined);
    assertEquals(query!.parameters.map(({ name }) => name), [
      "table",
      "Prefer",
      "after",
      "Rowgate-Position",
    ]);
  });

  it("has every error once, with messages", () => {
    const statuses = reference.errors.map(({ status }) => status);
    assertEquals(statuses, [400, 401, 403, 404, 408, 409, 410, 413, 415, 422, 429, 500, 503, 504]);
    for (const { status, description, examples } of reference.errors) {
      assert(description !== "" && examples.length > 0, String(status));
    }
  });

  it("is empty for an empty document", () => {
    assertEquals(readReference({}), { title: "", description: "", sections: [], errors: [] });
  });
});

describe("an example request", () => {
  const id = column("id", { type: "int8", primary_key: true, writable: false });
  const status = column("status", { type: "status", enum: ["open", "closed"] });
  const sample = (operation: string, fields: readonly Field[]) =>
    makeSample(operation, { table: "t", fields })?.body;

  it("names columns of the table, with values of their types", () => {
    const fields = [
      id,
      status,
      column("total", { type: "numeric" }),
      column("on", { type: "date" }),
    ];
    assertEquals(sample("queryRecords", fields), {
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
    assertEquals(sample("updateSingleRecord", fields), {
      filters: { id: 12 },
      fields: { status: "open" },
    });
    assertEquals(sample("updateBulkRecords", fields), {
      filters: { status: "open" },
      fields: { status: "closed" },
    });
  });

  it("shows a change with the key and the whole record", () => {
    const { response } = makeSample("listChanges", { table: "t", fields: [id, status] })!;
    assertEquals((response as { changes: unknown }).changes, [
      { type: "upsert", key: { id: 12 }, record: { id: 12, status: "open" } },
    ]);
  });

  it("makes do with the columns that there are", () => {
    const fields = [id, column("note")];
    assertEquals(sample("updateBulkRecords", fields), {
      filters: { note: "text" },
      fields: { note: "text" },
    });
    assertEquals(sample("queryRecords", []), { filters: { and: [] }, select: [], per_page: 50 });
    assertEquals(sample("updateSingleRecord", []), { filters: {}, fields: {} });
    assertEquals(sample("somethingNew", fields), undefined);
  });
});
