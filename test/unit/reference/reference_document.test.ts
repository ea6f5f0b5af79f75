import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { describeService } from "../../../src/describe/interface/openapi/document.ts";
import { readReference } from "../../../src/describe/reference/reference_document.ts";

describe("the document that the reference shows", () => {
  const reference = readReference(describeService());

  it("has the operations of each tag with the examples of the OpenAPI document", () => {
    assertEquals(
      reference.sections.map(({ name, operations }) => [name, operations.map(({ id }) => id)]),
      [
        ["Records", [
          "queryRecords",
          "getSingleRecord",
          "updateSingleRecord",
          "deleteSingleRecord",
          "updateBulkRecords",
          "deleteBulkRecords",
          "updateBatchOfRecords",
          "createRecords",
          "upsertRecords",
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
    assertEquals(statuses, [
      400,
      401,
      403,
      404,
      408,
      409,
      410,
      412,
      413,
      415,
      422,
      429,
      500,
      503,
      504,
    ]);
    for (const { status, description, examples } of reference.errors) {
      assert(description !== "" && examples.length > 0, String(status));
    }
  });

  it("is empty for an empty document", () => {
    assertEquals(readReference({}), { title: "", description: "", sections: [], errors: [] });
  });
});
