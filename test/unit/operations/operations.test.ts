import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { DESCRIBED_OPERATIONS } from "../../../src/interface/openapi/operations.ts";
import { OPERATIONS } from "../../../src/operations/operations.ts";

/** The document does not describe itself. */
const UNDESCRIBED = ["describe_interface"];

describe("the list of operations", () => {
  it("has the methods and paths that the OpenAPI document describes, in its order", () => {
    const served = OPERATIONS.filter(({ name }) => !UNDESCRIBED.includes(name)).map((operation) =>
      `${operation.method} ${operation.path.replace(/:(table|id)/, "{$1}")}`
    );
    const described = DESCRIBED_OPERATIONS.map(({ method, path }) =>
      `${method.toUpperCase()} ${path}`
    );
    assertEquals(served, described);
  });
});
