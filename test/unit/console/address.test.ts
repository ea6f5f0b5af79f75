import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  FIRST_PAGE,
  type Place,
  readPlace,
  writePlace,
} from "../../../src/console/frame/address.ts";
import { readFilter, writeFilter } from "../../../src/console/filter_tree.ts";

const FILTER = {
  and: [
    { field: "status", op: "in", value: ["a b&c", "#?="] },
    { or: [{ field: "total", op: "gte", value: 500 }, { field: "note", op: "is_not_null" }] },
  ],
};

describe("the address of a place", () => {
  it("is read as it was written", () => {
    const places: readonly Place[] = [
      { view: "rows", table: "orders", query: FIRST_PAGE },
      { view: "update", table: "orders", query: { ...FIRST_PAGE, page: 3 } },
      {
        view: "rows",
        table: "Grüße & Co/Söhne",
        query: {
          filter: FILTER,
          sort: [{ field: "total", direction: "desc" }, { field: "id", direction: "asc" }],
          columns: ["id", "total"],
          page: 7,
          perPage: 200,
        },
      },
      { view: "webhooks", table: undefined, query: FIRST_PAGE },
    ];
    for (const place of places) assertEquals(readPlace(writePlace(place)), place);
    assertEquals(writePlace(places[0]!), "#/tables/orders");
  });

  it("leaves out what it does not understand", () => {
    const place = readPlace("#/tables/%E0%A4%A/nothing?filter={&sort=-,&page=-1&size=9999&x=1");
    assertEquals(place, {
      view: "rows",
      table: "%E0%A4%A",
      query: { ...FIRST_PAGE, perPage: 200 },
    });
    assertEquals(readPlace(""), { view: "rows", table: undefined, query: FIRST_PAGE });
    assertEquals(writePlace(readPlace("#/elsewhere")), "");
  });
});

describe("the filter of an address", () => {
  const fields = new Map([["total", { name: "total", type: "numeric" } as never]]);

  it("is the tree that wrote it", () => {
    assertEquals(writeFilter(readFilter(FILTER)!, fields), FILTER);
    const condition = { field: "total", op: "between", value: [1, 2.5] };
    assertEquals(writeFilter(readFilter(condition)!, fields), { and: [condition] });
    assertEquals(writeFilter(readFilter({ field: "total", op: "eq", value: null })!, fields), {
      and: [{ field: "total", op: "is_null" }],
    });
  });

  it("is none where it is not one", () => {
    for (const filter of [1, null, [], {}, { and: 1 }, { and: [1] }, { field: "x", op: "no" }]) {
      assertEquals(readFilter(filter), undefined, JSON.stringify(filter));
    }
    let deep: unknown = { field: "total", op: "eq", value: 1 };
    for (let depth = 0; depth < 5000; depth++) deep = { and: [deep] };
    assertEquals(readFilter(deep), undefined);
  });
});
