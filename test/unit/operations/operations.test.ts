import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { describeService } from "../../../src/describe/interface/openapi/document.ts";
import { toOperationId, toToolName } from "../../../src/operations/names.ts";
import { OPERATIONS } from "../../../src/operations/operations.ts";
import { TOOLS } from "../../../src/operations/tools/tools.ts";
import { SCOPES } from "../../../src/access/scopes.ts";

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { operationId: string }>>>>;
}

describe("the list of operations", () => {
  it("is what the OpenAPI document describes, in its order [S7]", () => {
    const { paths } = describeService() as unknown as Document;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, { operationId }]) => [method, path, operationId])
    );
    const listed = OPERATIONS.map(({ method, path, name }) => [
      method.toLowerCase(),
      path.replace(/:(table|id)/, "{$1}"),
      toOperationId(name),
    ]);
    const sort = (all: readonly string[][]) => all.map((one) => one.join(" ")).sort();
    assertEquals(sort(listed), sort(described));
  });

  it("has the name of each tool that stands for an operation [MC4]", () => {
    const named = OPERATIONS.filter(({ tool }) => tool !== undefined)
      .map(({ name }) => toToolName(name));
    const offered = TOOLS.map(({ name }) => name).filter((name) => name !== "preview_update");
    assertEquals(offered.toSorted(), named.toSorted());
  });

  it("needs no scope that a token cannot have [A9]", () => {
    for (const { name, scope } of OPERATIONS) {
      assertEquals(scope === undefined || SCOPES.includes(scope), true, name);
    }
  });

  it("names an operation by one rule", () => {
    assertEquals(toOperationId("create_records"), "createRecords");
    assertEquals(toOperationId("update_single"), "updateSingleRecord");
    assertEquals(toToolName("create_records"), "create_records");
    assertEquals(toToolName("update_bulk"), "update_records");
  });
});
