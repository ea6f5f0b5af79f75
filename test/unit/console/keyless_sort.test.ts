import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { sortKeyless } from "../../../src/console/keyless_sort.ts";

describe("sortKeyless", () => {
  const fields = [
    { name: "at", operators: ["eq", "lt"] as const },
    { name: "body", operators: ["is_null"] as const },
    { name: "level", operators: ["eq", "lt"] as const },
  ];

  it("sorts a table without key by every column that has an order [Q102]", () => {
    assertEquals(sortKeyless({ primary_key: [] }, fields), {
      sort: [{ field: "at", direction: "asc" }, { field: "level", direction: "asc" }],
    });
  });

  it("leaves the order of other tables to page tokens", () => {
    assertEquals(sortKeyless({ primary_key: ["at"] }, fields), {});
    assertEquals(sortKeyless({ primary_key: [] }, fields.slice(1, 2)), {});
  });
});
