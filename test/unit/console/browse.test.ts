import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Field, Table } from "../../../src/console/api.ts";
import { describeFilter } from "../../../src/console/browse/describe_filter.ts";
import { makeExport } from "../../../src/console/browse/export_rows.ts";
import { describeRange } from "../../../src/console/browse/pager.tsx";
import { makePageRequest, makeQueryRequest } from "../../../src/console/browse/query_request.ts";
import { sortBy } from "../../../src/console/browse/sort_by.ts";
import { readFilter } from "../../../src/console/filter_tree.ts";
import { FIRST_PAGE } from "../../../src/console/frame/address.ts";
import { type Choice, findChoices } from "../../../src/console/frame/palette.tsx";

const TABLE = { name: "orders", primary_key: ["id"] } as unknown as Table;
const FIELDS = ["note", "id", "total"].map((name) => ({
  name,
  operators: ["lt"],
})) as never as readonly Field[];

describe("a query of the console", () => {
  const queried = { table: TABLE, fields: FIELDS };

  it("is sorted by the key and has the key among its columns", () => {
    assertEquals(makeQueryRequest({ ...FIRST_PAGE, columns: ["total"] }, queried).body, {
      select: ["id", "total"],
      sort: [{ field: "id", direction: "asc" }],
      per_page: 50,
    });
  });

  it("reads a page by its token, otherwise by its number", () => {
    const query = { ...FIRST_PAGE, page: 3 };
    assertEquals(makePageRequest(query, queried, "abc").path.split("?")[1], "after=abc");
    const byNumber = makePageRequest(query, queried, undefined);
    assertEquals((byNumber.body as { page: number }).page, 3);
    assertEquals(byNumber.prefer, "page-token");
    const keyless = { table: { ...TABLE, primary_key: [] }, fields: FIELDS };
    assertEquals(makePageRequest(query, keyless, undefined).prefer, undefined);
  });

  it("is exported without its pages", () => {
    const { accept, body } = makeExport(makeQueryRequest(FIRST_PAGE, queried), "csv");
    assertEquals([accept, body], ["text/csv", { sort: [{ field: "id", direction: "asc" }] }]);
  });

  it("is sorted by the column that is clicked, with Shift by that too", () => {
    const asc = sortBy([], "total", false).sort;
    const desc = sortBy(asc, "total", false).sort;
    assertEquals(desc, [{ field: "total", direction: "desc" }]);
    assertEquals(sortBy(desc, "total", false).sort, []);
    assertEquals(sortBy(desc, "id", true).sort, [...desc, { field: "id", direction: "asc" }]);
    assertEquals(sortBy([...desc, ...asc], "total", true).sort, asc);
  });
});

describe("what the console says", () => {
  it("of a filter, on one line", () => {
    const text = (filter: unknown) => describeFilter(readFilter(filter)!);
    const total = { field: "total", op: "gte", value: 500 };
    const note = { field: "note", op: "is_null" };
    assertEquals(
      text({ or: [total, { and: [note, total] }] }),
      "total ≥ 500 or " +
        "(note is NULL and total ≥ 500)",
    );
    assertEquals(text({ or: [] }), "no row");
    const ids = { field: "id", op: "in", value: [1, 2, 3, 4, 5] };
    assertEquals(text({ and: [ids] }), "id in 1, 2, 3, … (5)");
  });

  it("of the place of a page", () => {
    const records = Array(25).fill({});
    const page = { page: 2, per_page: 25, total: 1500, records };
    assertEquals(describeRange(page), "26–50 of 1,500");
    assertEquals(describeRange({ ...page, total: null }), "26–50");
    assertEquals(describeRange({ ...page, records: [] }), "No rows on page 2 of 1,500");
    assertEquals(describeRange({ ...page, total: 0, records: [] }), "No rows");
  });

  it("of what is called so, those first that begin with it", () => {
    const choices = ["late orders", "orders", "order_lines", "products"]
      .map((label): Choice => ({ id: label, label, note: "table", run: () => {} }));
    const found = (text: string) => findChoices(choices, text).map(({ label }) => label);
    assertEquals(found("order"), ["orders", "order_lines", "late orders"]);
    assertEquals(found("TABLE lines"), ["order_lines"]);
    assertEquals(found("x"), []);
  });
});
