import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { pathOf } from "../../../src/basics/errors/issue.ts";
import { planQuery } from "../../../src/records/plan/query_plan.ts";
import { NO_SOURCE } from "../../../src/basics/json/source_text.ts";
import type { Condition } from "../../../src/request/condition.ts";
import type { Filter } from "../../../src/request/filters.ts";
import type { QueryRequest } from "../../../src/request/query_request.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

const ACCESS = makeAccess();
const TABLE = makeTable([
  makeColumn("status", "text"),
  makeColumn("amount", "numeric"),
  makeColumn("data", "json", { type: "json", equality: false, order: false }),
]);

function plan(request: Partial<QueryRequest>) {
  const paging = { page: 1, perPage: 50 };
  const asked = { filters: undefined, select: [], sort: [], ...paging };
  const defaults = { ...asked, document: {}, source: NO_SOURCE };
  const options = { table: TABLE, access: ACCESS, count: true, wideNumbersAsText: false };
  return planQuery({ ...defaults, ...request }, options);
}

function predicateOf(...items: readonly object[]) {
  const conditions = items.map((item, position) =>
    ({
      kind: "condition",
      path: pathOf("filters", "and", position),
      ...item,
    }) as unknown as Condition
  );
  const filters = {
    kind: "group",
    combine: "and",
    items: conditions as Filter[],
    path: null,
  } as const;
  const { predicate } = plan({ filters });
  return predicate?.kind === "and" ? predicate.items : [];
}

function rejectionOf(request: () => unknown): string {
  return assertThrows(request, ApiError).message;
}

describe("planQuery", () => {
  it("always has the tenant's scope [S8]", () => {
    const { scope } = plan({});
    assertEquals(scope, { kind: "tenant", tenancy: TABLE.tenancy!, tenant: "1" });
  });

  it("has every column without select, and each selected column once in the order of the request", () => {
    assertEquals(plan({}).columns.map((column) => column.name), ["id", "status", "amount", "data"]);
    const { columns } = plan({ select: ["amount", "id", "amount"] });
    assertEquals(columns.map((column) => column.name), ["amount", "id"]);
  });

  it("sorts by a repeated column at its first place, and reports the path of each issue", () => {
    const by = (field: string) => ({ field, direction: "asc" as const });
    const { sort } = plan({ sort: [by("amount"), by("id"), by("amount")] });
    assertEquals(sort.map(({ column }) => column.name), ["amount", "id"]);
    const twice = [by("amount"), by("amount"), by("nope")];
    assertEquals(rejectionOf(() => plan({ sort: twice })).split(":")[0], "sort[2].field");
    const select = ["id", "id", "nope"];
    assertEquals(rejectionOf(() => plan({ select })).split(":")[0], "select[2]");
  });

  it("plans eq and neq with null as tests for null, for every type [Q42] [Q43]", () => {
    for (const field of ["status", "data"]) {
      const [first, second] = predicateOf(
        { field, op: "eq", value: null },
        { field, op: "neq", value: null },
      );
      assertEquals([first!.kind, second!.kind], ["null", "null"]);
      assertEquals("negated" in first! && first.negated, false);
      assertEquals("negated" in second! && second.negated, true);
    }
  });

  it("adds a test for null to a list that contains null [Q44] [Q45]", () => {
    const [inside, outside, alone] = predicateOf(
      { field: "status", op: "in", value: ["a", null] },
      { field: "status", op: "not_in", value: ["a", null] },
      { field: "status", op: "in", value: [null] },
    );
    assertEquals([inside!.kind, outside!.kind, alone!.kind], ["or", "and", "null"]);
  });

  it("rejects an operator that the type does not have, naming type and operators", () => {
    const message = rejectionOf(() => predicateOf({ field: "data", op: "gt", value: "1" }));
    assertEquals(
      message,
      'filters.and[0].op: "gt" does not work on column "data" of type json, ' +
        "expected one of like, not_like, is_null, is_not_null",
    );
    assertEquals(
      rejectionOf(() => plan({ sort: [{ field: "data", direction: "asc" }] })).split(":")[0],
      "sort[0].field",
    );
  });

  it("suggests the nearest column for an unknown one, and marks the error as stale", () => {
    const error = assertThrows(() => plan({ select: ["stauts"] }), ApiError);
    assertEquals(error.message, 'select[0]: Unknown column "stauts", did you mean "status"');
    assertEquals([error.status, error.stale], [400, true]);
  });

  it("reports several issues at once, with the path of each value [E7]", () => {
    const message = rejectionOf(() =>
      predicateOf(
        { field: "amount", op: "in", value: [1, "x"] },
        { field: "amount", op: "between", value: ["y", 2] },
        { field: "nope", op: "eq", value: 1 },
      )
    );
    assertEquals(message.split("; ").map((part) => part.split(":")[0]), [
      "filters.and[0].value[1]",
      "filters.and[1].value[0]",
      "filters.and[2].field",
    ]);
  });
});
