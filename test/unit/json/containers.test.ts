import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { MAX_CONTAINERS } from "../../../src/basics/errors/limits.ts";
import { parseJsonInSlices } from "../../../src/basics/json/parse_json.ts";

/** More arrays and objects than are kept. */
const MANY = MAX_CONTAINERS + 3000;

async function parse(fields: string) {
  const text = `{"filters":{"a":1},"fields":${fields}}`;
  const { value, print, issues } = await parseJsonInSlices(text, { excess: "drop" });
  return { fields: (value as { fields: Record<string, unknown> }).fields, print, issues };
}

describe("a document of many arrays and objects", () => {
  it("keeps the text of each new value, also behind a long one [TV31] [RE27]", async () => {
    const list = `[${Array.from({ length: MANY }, (_, n) => `{"n":${n}}`).join()}]`;
    const own = `{"k": [${"{} , ".repeat(MANY)}1.50]}`;
    const { fields, print } = await parse(`{"l":${list},"o":${own},"j":{"a": 1},"k":[2 , []]}`);
    assertEquals(
      ["l", "o", "j", "k"].map((name) => print(fields[name])),
      [list, own, '{"a": 1}', "[2 , []]"],
    );
  });

  it("keeps so many arrays and objects of new values, and every scalar of a list [RE27]", async () => {
    const scalars = Array.from({ length: 3000 }, (_, n) => `x${n}`);
    const { fields } = await parse(
      `{"j":[${'[{"a":[]}],'.repeat(MANY)}1],"l":${JSON.stringify(scalars)}}`,
    );
    const held = new Set<unknown>();
    JSON.stringify(fields["j"], (_key, part) => {
      if (typeof part === "object") held.add(part);
      return part;
    });
    assert(held.size <= MAX_CONTAINERS + 10, `${held.size}`);
    assertEquals(fields["l"], scalars);
  });

  it("is rejected as a query, and as an update with too many new values [RE27]", async () => {
    const query = `{"filters":{"and":[${'{"and":[]},'.repeat(MANY)}1]}}`;
    const update = `{"fields":{${Array.from({ length: MANY }, (_, n) => `"k${n}":{}`).join()}}}`;
    for (const [text, excess] of [[query, "reject"], [update, "drop"]] as const) {
      const error = await assertRejects(
        async () => await parseJsonInSlices(text, { excess }),
        ApiError,
        "body: there are too many arrays and objects, expected at most 25000",
      );
      assertEquals((error as ApiError).status, 400);
    }
  });

  it("is rejected for a repeated key, U+0000 and bad syntax in parts that are not kept [RE27]", async () => {
    const late = `[${"{},".repeat(MANY)}`;
    for (
      const [end, expected] of [
        ['{"a":1,"a":2}]', `the key "a" appears twice at fields.no[${MANY}].a`],
        ["}]", "not valid JSON at line 1, column "],
        ["[".repeat(70), "nested too deeply"],
      ] as const
    ) await assertRejects(() => parse(`{"no":${late}${end}}`), ApiError, expected);
    assertEquals((await parse(`{"no":${late}"\\u0000"]}`)).issues.length, 1);
  });
});
