import { assertEquals, assertNotEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  type DrawnNode,
  type DrawnQuery,
  drawQuery,
  drawUpdate,
} from "../../scripts/bench/drawn_shapes.ts";
import { printSearch } from "../../scripts/bench/postgrest_search.ts";
import { openRandom } from "../../scripts/bench/random.ts";
import { readSeed } from "../support/seed.ts";

const COUNT = 500;

function drawQueries(seed: number): DrawnQuery[] {
  const random = openRandom(seed);
  return Array.from({ length: COUNT }, () => drawQuery(random));
}

function drawUpdates(seed: number) {
  const random = openRandom(seed);
  return Array.from({ length: COUNT }, () => drawUpdate(random));
}

function listOperators(node: DrawnNode): string[] {
  if ("op" in node) return [node.op];
  return (node.and ?? node.or)!.flatMap(listOperators);
}

function measureDepth(node: DrawnNode): number {
  if ("op" in node) return 0;
  return 1 + Math.max(...(node.and ?? node.or)!.map(measureDepth));
}

describe("the drawn works", () => {
  it("are the same for the same seed, and others for another", () => {
    assertEquals(drawQueries(7), drawQueries(7));
    assertEquals(drawUpdates(7), drawUpdates(7));
    assertNotEquals(drawQueries(7), drawQueries(8));
    assertNotEquals(drawUpdates(7), drawUpdates(8));
  });

  it("use every operator, groups in groups, sorts, pages and all kinds of update", () => {
    const queries = drawQueries(1);
    const operators = new Set(queries.flatMap(({ filters }) => listOperators(filters)));
    assertEquals([...operators].toSorted(), OPERATORS);
    assertEquals(
      new Set(queries.map(({ filters }) => measureDepth(filters))),
      new Set([1, 2, 3, 4]),
    );
    const share = (holds: (query: DrawnQuery) => boolean) => queries.filter(holds).length / COUNT;
    for (
      const holds of [
        ({ sort }: DrawnQuery) => sort.length === 0,
        ({ sort }: DrawnQuery) => sort.length === 2,
        ({ select }: DrawnQuery) => select.length > 0,
        ({ page }: DrawnQuery) => page > 1,
        ({ count }: DrawnQuery) => !count,
      ]
    ) assertEquals(share(holds) > 0.02 && share(holds) < 0.9, true, `${holds}: ${share(holds)}`);
    const kinds = new Set(drawUpdates(1).map(({ kind, filters }) => `${kind} ${filters[0]}`));
    assertEquals(kinds, new Set(["bulk list_id", "single id", "single email"]));
  });

  it("have an order wherever a page is only a part of what matches", () => {
    for (const { width, perPage, page, sort } of drawQueries(readSeed())) {
      assertEquals(sort.length > 0 || width <= perPage && page === 1, true);
    }
  });

  it("draw evenly", () => {
    const random = openRandom(3);
    const counts = [0, 0, 0, 0];
    for (let index = 0; index < 4000; index++) counts[random.whole(0, 3)]!++;
    assertEquals(counts.every((count) => count > 900 && count < 1100), true, `${counts}`);
    const some = Array.from({ length: 1000 }, () => random.some([1, 2, 3, 4, 5], 2));
    assertEquals(some.every(([a = 0, b = 0, c]) => a < b && c === undefined), true);
    for (const one of [1, 2, 3, 4, 5]) {
      const share = some.filter((list) => list.includes(one)).length / 1000;
      assertEquals(share > 0.33 && share < 0.47, true, `${share}`);
    }
  });
});

const OPERATORS = [
  ...["between", "eq", "gt", "gte", "in", "is_not_null", "is_null", "like", "lt", "lte", "neq"],
  ...["not_in", "not_like"],
];

describe("a request of PostgREST", () => {
  const print = (body: Parameters<typeof printSearch>[0]["body"]) =>
    decodeURIComponent(printSearch({ kind: "query", body }));

  it("has a parameter for each condition that must hold", () => {
    const filters = {
      and: [
        { field: "score", op: "between", value: [1, 5] },
        { and: [{ field: "city", op: "neq", value: "Delft" }] },
        { field: "status", op: "is_not_null" },
        { field: "id", op: "not_in", value: [1, 2] },
      ],
    };
    const wanted =
      "score=gte.1&score=lte.5&city=neq.Delft&status=not.is.null&id=not.in.(1,2)&limit=50";
    assertEquals(print({ filters }), wanted);
  });

  it("quotes what would end a value within a group", () => {
    const filters = {
      or: [
        { field: "name", op: "not_like", value: 'a,"b\\%' },
        { and: [{ field: "score", op: "between", value: [1, 5] }] },
        { field: "city", op: "in", value: ["Delft", "The Hague"] },
      ],
    };
    const wanted = 'or=(name.not.like."a,\\"b\\\\%",and(and(score.gte.1,score.lte.5)),' +
      'city.in.(Delft,"The Hague"))&limit=50';
    assertEquals(print({ filters }), wanted);
  });

  it("continues an order by the key, and counts rows before the page", () => {
    const sort = [{ field: "id", direction: "desc" as const }];
    const body = { filters: { and: [] }, select: ["id"], sort, page: 3, per_page: 20 };
    assertEquals(print(body), "select=id&order=id.desc,tenant_id&limit=20&offset=40");
  });

  it("escapes what has a meaning in a URL", () => {
    const filters = { and: [{ field: "name", op: "like", value: "a+b&c %#" }] };
    const search = printSearch({ kind: "query", body: { filters } });
    assertEquals(search, "name=like.a%2Bb%26c%20%25%23&limit=50");
  });
});
