import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { SqlText } from "../../../src/catalogue/catalogue.ts";
import { dependsOnValues } from "../../../src/records/plan/plan_choice.ts";
import { planQuery } from "../../../src/records/plan/query_plan.ts";
import { parseQueryRequest } from "../../../src/request/query_request.ts";
import { makeAccess, makeColumn, makeTable } from "../../support/table.ts";

/** Indexed by `id`, `owner` and `at`. */
const TABLE = makeTable(
  ["owner", "status", "score"].map((name) => makeColumn(name, "int4"))
    .concat([makeColumn("at", "int8"), makeColumn("name", "text")]),
  { orderedByIndex: new Set(["id", "owner", "at"].map((name) => `"${name}"` as SqlText)) },
);

const equals = (field: string) => ({ field, op: "eq", value: 7 });
const range = (field: string) => ({ field, op: "between", value: [1, 2] });
const list = (field: string, op = "in") => ({ field, op, value: [1, 2] });
const like = (op = "like") => ({ field: "name", op, value: "a%" });
const isNull = (field: string) => ({ field, op: "is_null" });

function ask(filters: object | readonly object[] | undefined, sort?: string): boolean {
  const body = {
    ...(filters === undefined
      ? {}
      : { filters: Array.isArray(filters) ? { and: filters } : filters }),
    ...(sort === undefined ? {} : { sort: [{ field: sort }] }),
  };
  const options = {
    table: TABLE,
    access: makeAccess(),
    count: true,
    wideNumbersAsText: false,
  };
  return dependsOnValues(planQuery(parseQueryRequest(body), options));
}

describe("dependsOnValues [P32]", () => {
  it("is false without conditions, in any order", () => {
    for (const sort of [undefined, "id", "score"]) {
      assertEquals([ask(undefined, sort), ask([], sort), ask({ or: [] }, sort)], [
        false,
        false,
        false,
      ]);
    }
  });

  it("is false for a row by its key, whatever else is asked", () => {
    assertEquals(ask([equals("id")]), false);
    assertEquals(ask([equals("id"), range("at"), equals("owner")], "at"), false);
    assertEquals(ask({ or: [equals("id"), equals("owner")] }), true);
  });

  it("is true where a condition and the order have different indexes", () => {
    for (const condition of [range("at"), equals("owner"), list("owner"), isNull("at")]) {
      assertEquals(ask([condition], "id"), true);
    }
  });

  it("is true where two conditions have different indexes", () => {
    assertEquals(ask([equals("owner"), range("at")]), true);
    assertEquals(ask([equals("owner"), range("at")], "score"), true);
    assertEquals(ask({ or: [equals("owner"), { and: [range("at")] }] }), true);
  });

  it("is true where the order alone has an index, and rare rows may be wanted", () => {
    for (const condition of [equals("status"), range("score"), isNull("score")]) {
      assertEquals(ask([condition], "at"), true);
    }
  });

  it("is true for one indexed column whose values may be rare or not", () => {
    for (const condition of [equals("owner"), list("owner"), isNull("owner")]) {
      assertEquals(ask([condition]), true);
      assertEquals(ask([condition], "score"), true);
    }
  });

  it("is false for ranges of one indexed column, in its order or in one without index", () => {
    for (const sort of [undefined, "at", "score"]) {
      assertEquals(ask([range("at")], sort), false);
      assertEquals(ask([range("at"), equals("status"), isNull("score")], sort), false);
    }
    assertEquals(ask([range("at"), { field: "at", op: "gte", value: 1 }], "at"), false);
  });

  it("is false where nothing is indexed, and true for every pattern", () => {
    assertEquals(ask([equals("status"), range("score")], "score"), false);
    assertEquals([ask([like()]), ask([like("not_like")], "score")], [true, true]);
  });

  it("takes no account of conditions that leave some rows out", () => {
    assertEquals(ask([list("owner", "not_in")], "score"), false);
    assertEquals(ask([{ field: "owner", op: "neq", value: 7 }]), false);
    assertEquals(ask([{ field: "owner", op: "neq", value: 7 }], "id"), true);
  });
});
