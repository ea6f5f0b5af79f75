import { assertEquals } from "@std/assert";
import { afterAll, beforeAll, describe, it } from "@std/testing/bdd";
import fc from "fast-check";
import { createTestService, type TestService } from "../support/service.ts";
import { checkLaw } from "./check_law.ts";

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
/** Bounds that are contained, `[low, high)`; null is none. */
type Range = readonly [low: number | null, high: number | null];

interface Row {
  readonly tags: readonly (string | null)[] | null;
  readonly doc: Json;
  readonly span: Range | null;
}

const tag = fc.constantFrom("a", "b", "A", "a b", "", 'q"', "\\", "{}");
const leaf = fc.constantFrom<Json>(null, true, 0, 1.5, "a", "b");
const json: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: "small" },
    leaf,
    fc.array(tie("json"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b"), tie("json"), { maxKeys: 2 }),
  ),
})).json;
const bound = fc.option(fc.integer({ min: 0, max: 9 }), { freq: 6 });
const range = fc.tuple(bound, bound).filter(([low, high]) =>
  low === null || high === null || low < high
);
const row: fc.Arbitrary<Row> = fc.record({
  tags: fc.option(fc.array(fc.option(tag, { freq: 6 }), { maxLength: 4 }), { freq: 6 }),
  doc: json,
  span: fc.option(range, { freq: 6 }),
});
const question = fc.oneof(
  fc.oneof(tag, fc.array(tag, { maxLength: 3 })).map((value) => ({
    field: "tags",
    value,
    holds: ({ tags }: Row) =>
      tags !== null && [value].flat().every((element) => tags.includes(element)),
  })),
  json.filter((value) => value !== null).map((value) => ({
    field: "doc",
    value,
    holds: ({ doc }: Row) => containsJson(doc, value, true),
  })),
  fc.oneof(fc.integer({ min: -1, max: 10 }), range).map((value) => ({
    field: "span",
    value: typeof value === "number" ? value : printRange(value),
    holds: ({ span }: Row) =>
      span !== null &&
      containsRange(span, typeof value === "number" ? [value, value + 1] : value),
  })),
);

describe("contains picks what arrays, JSON and ranges contain", () => {
  let service: TestService;
  beforeAll(async () => {
    service = await createTestService("real", { template: "empty" });
    await service.database.admin.unsafe(`create table held (id int4 primary key,
      tenant_id int4 not null default 1, tags text[], doc jsonb, span int4range);
      grant select on held to rowgate_app`);
  });
  afterAll(() => service?.close());

  it("for any rows and values, and nothing of another tenant [Q105] [Q106] [Q107] [S8]", async () => {
    const rows = fc.array(row, { minLength: 1, maxLength: 30 });
    const questions = fc.array(question, { minLength: 12, maxLength: 12 });
    const law = fc.asyncProperty(rows, questions, async (rows, questions) => {
      const { admin } = service.database;
      const records = rows.map(({ tags, doc, span }, id) => ({
        ...{ id, tags, doc, span: span && printRange(span) },
        tenant_id: 1 + id % 2,
      }));
      await admin`delete from held`;
      await admin`insert into held (id, tenant_id, tags, doc, span)
        select id, tenant_id, tags, doc, span from json_populate_recordset(null::held, ${
        JSON.stringify(records)
      }::text::json)`;
      for (const { field, value, holds } of questions) {
        const body = {
          filters: { and: [{ field, op: "contains", value }] },
          select: ["id"],
          sort: [{ field: "id" }],
          per_page: 200,
        };
        const path = "/integration/tables/held/query";
        const response = await service.send("POST", path, { body });
        assertEquals(response.status, 200, response.text);
        const found = (response.body["records"] as { id: number }[]).map(({ id }) => id);
        const expected = rows.flatMap((each, id) => id % 2 === 0 && holds(each) ? [id] : []);
        assertEquals(found, expected, JSON.stringify({ field, value }));
      }
    });
    await checkLaw(law, { runs: 15 });
  });
});

/** Objects by members, arrays by elements in any order, an array a scalar at the top. */
function containsJson(whole: Json, part: Json, isTop = false): boolean {
  if (Array.isArray(whole)) {
    if (Array.isArray(part)) {
      return part.every((each) => whole.some((element) => containsJson(element, each)));
    }
    return isTop && !isObject(part) && whole.some((element) => element === part);
  }
  if (isObject(whole) && isObject(part)) {
    return Object.entries(part).every(([name, each]) =>
      Object.hasOwn(whole, name) && containsJson(whole[name]!, each)
    );
  }
  return whole === part;
}

function isObject(value: Json): value is { [name: string]: Json } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function containsRange([low, high]: Range, [from, to]: Range): boolean {
  return (low === null || from !== null && from >= low) &&
    (high === null || to !== null && to <= high);
}

function printRange([low, high]: Range): string {
  return `[${low ?? ""},${high ?? ""})`;
}
