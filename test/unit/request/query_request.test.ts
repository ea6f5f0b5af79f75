import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { pathOf } from "../../../src/basics/errors/issue.ts";
import { parseJson } from "../../../src/basics/json/parse_json.ts";
import { parseQueryRequest, type QueryRequest } from "../../../src/request/query_request.ts";
import fc from "fast-check";

function parse(body: unknown): QueryRequest {
  const { value, issues } = parseJson(typeof body === "string" ? body : JSON.stringify(body));
  return parseQueryRequest(value, issues);
}

function reject(body: unknown): string {
  const error = assertThrows(() => parse(body), ApiError) as ApiError;
  assertEquals([error.status, error.matched], [400, undefined]);
  return error.message;
}

const GOOD = { field: "a", op: "eq", value: 1 };

function rejectCondition(condition: unknown): string {
  return reject({ filters: { and: [GOOD, condition] } });
}

function nest(depth: number): unknown {
  return depth === 0 ? GOOD : { and: [nest(depth - 1)] };
}

describe("parseQueryRequest", () => {
  it("gives the defaults for {} [Q2]", () => {
    const { document: _, source: __, ...request } = parse({});
    assertEquals(request, { filters: undefined, select: [], sort: [], page: 1, perPage: 50 });
  });

  it("keeps the path of each group and condition [E5]", () => {
    const { filters } = parse({
      filters: { and: [GOOD, { or: [{ field: "b", op: "is_null" }] }] },
    });
    assertEquals(filters, {
      kind: "group",
      combine: "and",
      path: pathOf("filters"),
      items: [
        { kind: "condition", path: pathOf("filters", "and", 0), field: "a", op: "eq", value: 1 },
        {
          kind: "group",
          combine: "or",
          path: pathOf("filters", "and", 1),
          items: [{
            kind: "condition",
            path: pathOf("filters", "and", 1, "or", 0),
            field: "b",
            op: "is_null",
          }],
        },
      ],
    });
  });

  for (const body of ["null", "[]", '"x"', "1", "true"]) {
    it(`rejects ${body} as body [Q1]`, () => {
      assertEquals(reject(body), `body: ${body} is not an object, expected a JSON object`);
    });
  }

  for (
    const [key, expected] of [
      ["perPage", 'did you mean "per_page"'],
      ["Filters", 'did you mean "filters"'],
      ["sorts", 'did you mean "sort"'],
      ["limit", "expected one of filters, select, sort, page, per_page"],
      ["constructor", "expected one of filters"],
      ["__proto__", "expected one of filters"],
    ] as const
  ) {
    it(`rejects the unknown key ${key}, naming it [Q3] [E12]`, () => {
      const message = reject(`{"${key}": 1}`);
      assertStringIncludes(message, `${key}: "${key}" is not a known key, ${expected}`);
    });
  }

  for (
    const [filters, path] of [
      [{}, "filters"],
      [null, "filters"],
      [[], "filters"],
      ["x", "filters"],
      [{ not: [] }, "filters"],
      [{ and: [], or: [] }, "filters"],
      [{ and: [], field: "a" }, "filters"],
      [GOOD, "filters"],
      [{ and: {} }, "filters.and"],
      [{ or: null }, "filters.or"],
      [{ and: [GOOD, { or: [], and: [] }] }, "filters.and[1]"],
      [{ and: [{ or: "x" }] }, "filters.and[0].or"],
      [{ and: [GOOD, {}] }, "filters.and[1]"],
      [{ and: [GOOD, null] }, "filters.and[1]"],
      [{ and: [[GOOD]] }, "filters.and[0]"],
      [{ and: [{ not: [GOOD] }] }, "filters.and[0]"],
    ] as const
  ) {
    it(`rejects the group ${JSON.stringify(filters)} at ${path} [Q6] [Q7]`, () => {
      const message = reject({ filters });
      assertEquals(message.slice(0, path.length + 2), `${path}: `);
      assertEquals(message.includes("; "), false);
    });
  }

  it("accepts empty groups [Q15] [Q16]", () => {
    assertEquals(parse({ filters: { or: [] } }).filters?.items, []);
  });

  it("accepts depth 5 and rejects depth 6 at its own path [L2]", () => {
    parse({ filters: nest(5) });
    const path = "filters.and[0].and[0].and[0].and[0].and[0]";
    assertStringIncludes(reject({ filters: nest(6) }), `${path}: the group is nested too deeply`);
  });

  it("accepts 50 conditions in all groups, and rejects the 51st at its own path [L3] [L4]", () => {
    const fifty = { and: [{ or: Array(25).fill(GOOD) }, { or: Array(25).fill(GOOD) }] };
    parse({ filters: fifty });
    assertStringIncludes(
      reject({ filters: { and: [...fifty.and, { or: [GOOD, GOOD] }] } }),
      "filters.and[2].or[0]: one condition too many, expected at most 50",
    );
    assertEquals(reject({ filters: { or: Array(52).fill(GOOD) } }).includes("; "), false);
  });

  it("accepts 1,600 groups, names and sort items, and rejects one more [L16] [FS10] [FS22] [0007]", () => {
    const limits = {
      "filters.and[1599]: one group too many": (n: number) => ({
        filters: { and: Array(n - 1).fill({ or: [] }) },
      }),
      "select: the array has 1601 names": (n: number) => ({ select: Array(n).fill("a") }),
      "sort: the array has 1601 sort items": (n: number) => ({
        sort: Array(n).fill({ field: "a" }),
      }),
    };
    for (const [message, make] of Object.entries(limits)) {
      parse(make(1600));
      assertStringIncludes(reject(make(1601)), `${message}, expected at most 1600`);
      assertEquals(reject(make(20_000)).includes("; "), false);
    }
  });

  for (
    const [condition, expected] of [
      [{ ...GOOD, field: "a b" }, 'field: "a b" is not a valid name'],
      [{ ...GOOD, field: "" }, 'field: "" is not a valid name'],
      [{ ...GOOD, field: "a\n" }, 'field: "a\\n" is not a valid name'],
      [{ ...GOOD, field: 5 }, "field: 5 is not a name"],
      [{ ...GOOD, op: "eqq" }, 'op: "eqq" is not a supported operator, did you mean "eq"'],
      [{ ...GOOD, op: "EQ" }, 'op: "EQ" is not a supported operator, did you mean "eq"'],
      [{ ...GOOD, op: ">=" }, 'op: ">=" is not a supported operator, did you mean "gte"'],
      [
        { ...GOOD, op: "resembles" },
        'op: "resembles" is not a supported operator, expected one of',
      ],
      [{ ...GOOD, op: "constructor" }, 'op: "constructor" is not a supported operator'],
      [{ ...GOOD, op: "__proto__" }, 'op: "__proto__" is not a supported operator'],
      [{ ...GOOD, op: null }, "op: null is not a supported operator"],
      [{ ...GOOD, value2: 1 }, 'value2: "value2" is not a known key, did you mean "value"'],
      [
        { feild: "a", op: "eq", value: 1 },
        'feild: "feild" is not a known key, did you mean "field"',
      ],
      [{ op: "eq", value: 1 }, "field: field is required"],
      [{ field: "a", value: 1 }, "op: op is required"],
      [{ field: "a", op: "eq" }, "value: value is required"],
      [{ field: "a", op: "is_null", value: null }, 'value: "is_null" takes no value'],
      [{ field: "a", op: "is_not_null", value: false }, 'value: "is_not_null" takes no value'],
      [{ ...GOOD, value: { gt: 1 } }, 'value: {"gt":1} is not a scalar'],
      [{ ...GOOD, value: [1] }, "value: [1] is not a scalar"],
      [{ ...GOOD, op: "gt", value: null }, "value: null compares with nothing, use is_null"],
      [{ ...GOOD, op: "lte", value: [] }, "value: [] is not a scalar"],
      [{ ...GOOD, op: "like", value: null }, "value: null is not a pattern, use is_null"],
      [{ ...GOOD, op: "not_like", value: 5 }, "value: 5 is not a pattern, expected a string"],
      [{ ...GOOD, op: "like", value: "a\\" }, "ends in a single backslash"],
      [{ ...GOOD, op: "like", value: "\\\\\\" }, "ends in a single backslash"],
      [
        { ...GOOD, op: "in", value: [] },
        "value: the array has 0 values, expected an array of 1 to 200",
      ],
      [{ ...GOOD, op: "not_in", value: Array(201).fill(1) }, "value: the array has 201 values"],
      [{ ...GOOD, op: "in", value: "a" }, 'value: "a" is not an array'],
      [{ ...GOOD, op: "in", value: [1, 2, {}] }, "value[2]: {} is not a scalar"],
      [
        { ...GOOD, op: "between", value: [1] },
        "value: the array has 1 value, expected an array of exactly 2",
      ],
      [{ ...GOOD, op: "between", value: [1, 2, 3] }, "value: the array has 3 values"],
      [{ ...GOOD, op: "between", value: "1,2" }, 'value: "1,2" is not an array'],
      [{ ...GOOD, op: "between", value: null }, "value: null is not a range, use is_null"],
      [
        { ...GOOD, op: "between", value: [1, null] },
        "value[1]: null compares with nothing, use is_null",
      ],
      [{ ...GOOD, op: "between", value: [[1], 2] }, "value[0]: [1] is not a scalar"],
    ] as const
  ) {
    const shown = JSON.stringify(condition).slice(0, 70);
    it(`rejects ${shown} at its own path and nowhere else [E17]`, () => {
      const message = rejectCondition(condition);
      assertEquals(message.startsWith("filters.and[1]."), true, message);
      assertStringIncludes(message, expected);
      assertEquals(message.includes("; "), false);
      assertEquals(message.endsWith("."), false);
    });
  }

  it("accepts every operator with a value of its shape [Q18]", () => {
    const scalars = ["x", 1, true, null];
    const conditions = [
      ...scalars.flatMap((value) => [{ op: "eq", value }, { op: "neq", value }]),
      ...["gt", "gte", "lt", "lte"].map((op) => ({ op, value: "2026-01-31" })),
      { op: "like", value: "%\\\\" },
      { op: "not_like", value: "" },
      { op: "in", value: scalars },
      { op: "not_in", value: Array(200).fill(0) },
      { op: "between", value: [1, "2"] },
      { op: "is_null" },
      { op: "is_not_null" },
    ].map((condition) => ({ field: "a", ...condition }));
    const { filters } = parse({ filters: { and: conditions } });
    const bare = filters?.items.map(({ kind: _kind, path: _path, ...condition }) => condition);
    assertEquals(bare as unknown, conditions);
  });

  for (
    const [member, value] of [
      ["select", null],
      ["select", "a"],
      ["sort", null],
      ["sort", { field: "a" }],
      ["page", null],
      ["page", 0],
      ["page", -1],
      ["page", 1.5],
      ["page", "1"],
      ["page", true],
      ["per_page", null],
      ["per_page", 0],
      ["per_page", 2.5],
      ["per_page", "50"],
    ] as const
  ) {
    it(`rejects ${member}: ${JSON.stringify(value)} [Q4]`, () => {
      assertStringIncludes(
        reject({ [member]: value }),
        `${member}: ${JSON.stringify(value)} is not`,
      );
    });
  }

  it("accepts a page written 1.0 and rejects 1e300 and 2^53 [FS18]", () => {
    assertEquals(parse('{"page":1.0,"per_page":2e1}').perPage, 20);
    for (const [sent, shown] of [["1e300", "1e+300"], ["9007199254740992", "9007199254740992"]]) {
      assertStringIncludes(
        reject(`{"page":${sent}}`),
        `page: ${shown} is not a page, expected a whole number up to 9007199254740991`,
      );
    }
  });

  it("caps per_page at 200 [Q76]", () => {
    assertEquals([200, 201, 100000].map((n) => parse({ per_page: n }).perPage), [200, 200, 200]);
  });

  it("treats empty select and sort as absent, and keeps the order of names [Q58] [Q65]", () => {
    const { select, sort } = parse({ select: [], sort: [] });
    assertEquals([select, sort], [[], []]);
    assertEquals(parse({ select: ["b", "a", "b"] }).select, ["b", "a", "b"]);
  });

  it("rejects names that do not match the pattern at their path [E18]", () => {
    assertStringIncludes(reject({ select: ["a", "*"] }), 'select[1]: "*" is not a valid name');
    assertStringIncludes(reject({ select: [7] }), "select[0]: 7 is not a name");
    assertStringIncludes(
      reject({ sort: [{ field: "a.b" }] }),
      'sort[0].field: "a.b" is not a valid',
    );
  });

  it("sorts ascending by default [Q64]", () => {
    assertEquals(parse({ sort: [{ field: "a" }, { field: "b", direction: "desc" }] }).sort, [
      { field: "a", direction: "asc" },
      { field: "b", direction: "desc" },
    ]);
  });

  for (const direction of ["ASC", "descending", "desc nulls last", null, 1]) {
    it(`rejects the direction ${JSON.stringify(direction)} [Q63]`, () => {
      assertEquals(
        reject({ sort: [{ field: "a", direction }] }),
        `sort[0].direction: ${
          JSON.stringify(direction)
        } is not a direction, expected "asc" or "desc"`,
      );
    });
  }

  it("rejects sort items that are not objects, lack a field or have other keys [Q61]", () => {
    assertStringIncludes(reject({ sort: ["a"] }), 'sort[0]: "a" is not a sort item');
    assertStringIncludes(reject({ sort: [{}] }), "sort[0].field: field is required");
    assertEquals(
      reject({ sort: [{ feld: "a" }] }),
      'sort[0].feld: "feld" is not a known key, did you mean "field"',
    );
  });

  it("reports at most five issues, in document order, including those of the parser [E8] [E9]", () => {
    const message = reject(
      '{"per_page":0,"filters":{"and":[{"field":"a","op":"eq","value":12345678901234567890},' +
        '{"value":"\\u0000","field":"b!","op":"eq"}]},"page":0,"select":["?"],"x":1}',
    );
    assertEquals(message.split("; ").map((part) => part.split(": ")[0]), [
      "per_page",
      "filters.and[0].value",
      "filters.and[1].value",
      "filters.and[1].field",
      "page",
    ]);
  });

  it("gives a request or a 400 for any JSON", () => {
    const keys = fc.constantFrom(
      "filters",
      "and",
      "or",
      "field",
      "op",
      "value",
      "sort",
      "select",
      "page",
    );
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 6 },
        fc.constantFrom(null, 1, "a", "eq", "in", [], {}),
        fc.array(tie("tree"), { maxLength: 3 }),
        fc.dictionary(keys, tie("tree"), { maxKeys: 3 }),
      ),
    }));
    fc.assert(fc.property(fc.dictionary(keys, tree, { maxKeys: 3 }), (body) => {
      try {
        parse(body);
      } catch (error) {
        assertEquals((error as ApiError).status, 400);
      }
    }));
  });
});
