import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/errors/api_error.ts";
import { parseJsonInSlices } from "../../../src/json/parse_json.ts";
import type { UseOf } from "../../../src/json/trimming.ts";
import { useOfQuery, useOfUpdate } from "../../../src/request/body_parts.ts";
import { serveWorstBody } from "../../support/serve_worst_body.ts";

import fc from "fast-check";

/** A text that is long enough to be trimmed. */
const LONG = 20_000;

const useOf = useOfUpdate((name) =>
  name === "j" ? "json" : name === "l" ? "lists" : name === "jl" ? "lists of json" : "scalars"
);

async function parse(fields: string, use: UseOf = useOf) {
  const text = `{"filters":{"a":1},"fields":${fields}}`.padEnd(LONG);
  const { value, print } = await parseJsonInSlices(text, { useOf: use });
  return { fields: (value as { fields: Record<string, unknown> }).fields, print };
}

/** Counts the arrays and objects of a value, including itself. */
function count(value: unknown): number {
  const held = new Set<unknown>();
  JSON.stringify(value, (_key, part) => {
    if (typeof part === "object") held.add(part);
    return part;
  });
  return held.size;
}

const JSON_VALUE = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.array(fc.constantFrom({}, [], [[1]], { a: {} }), { minLength: 90, maxLength: 300 }),
).map((value) => JSON.stringify(value, (_key, item) => typeof item === "number" ? 1.5 : item));
const MEMBER = fc.constantFrom("filters", "fields", "select", "sort", "page", "other");
/** Keys that are not numbers, which an object would list first. */
const NAME = fc.constantFrom("a", "n", "j", "l", "t", "and", "value", "no");

/** A body whose members and fields hold anything. */
const BODY = fc.uniqueArray(
  fc.tuple(
    MEMBER,
    fc.uniqueArray(fc.tuple(NAME, JSON_VALUE), {
      selector: ([name]) => name,
    }),
  ),
  { selector: ([member]) => member },
).map((members) =>
  `{${
    members.map(([member, entries]) =>
      `"${member}":{${entries.map(([name, value]) => `"${name}":${value}`).join()}}`
    ).join()
  }}`.padEnd(LONG)
);

describe("a long document", () => {
  it("keeps the text of each value behind a long list of JSON [TV31]", async () => {
    const list = `[${Array.from({ length: 3000 }, (_, n) => `{"n":${n}}`).join()}]`;
    const { fields, print } = await parse(`{"jl":${list},"j":{"a":1},"k":{"b":2}}`);
    assertEquals(print(fields["jl"]), list);
    assertEquals(print(fields["j"]), '{"a":1}');
  });

  it("gets the same response as if all of it were kept [RE27]", async () => {
    const operation = fc.constantFrom<"query" | "update">("query", "update");
    await fc.assert(fc.asyncProperty(BODY, operation, async (text, operation) => {
      const bytes = new TextEncoder().encode(text);
      const body = { name: "", operation, make: () => text };
      const whole = await serveWorstBody(body, bytes, { whole: true });
      assertEquals(await serveWorstBody(body, bytes), whole);
    }));
  });

  it("keeps what a message shows of values that do not fit a column [RE27]", async () => {
    const many = `[${"[{}],".repeat(3000)}1]`;
    const { fields } = await parse(`{"t":${many},"l":${many},"j":${many},"jl":${many}}`);
    assertEquals([count(fields["t"]), count(fields["j"])], [102, 1]);
    assert(count(fields["l"]) < 5000, `${count(fields["l"])}`);
    assert(count(fields["jl"]) < 3000, `${count(fields["jl"])}`);
  });

  it("keeps every scalar of a list, and prints JSON as the client wrote it [RE27]", async () => {
    const list = Array.from({ length: 3000 }, (_, n) => `x${n}`);
    const own = `{"k": [${"{} , ".repeat(3000)}1.50]}`;
    const { fields, print } = await parse(`{"l":${JSON.stringify(list)},"j":${own}}`);
    assertEquals(fields["l"], list);
    assertEquals(print(fields["j"]), own);
  });

  it("keeps no more of a query than its limits allow [RE27]", async () => {
    for (
      const text of [
        `{"filters":{"and":[${'{"and":[]},'.repeat(50_000)}1]}}`,
        `{"filters":{"and":[${`{"or":[${"[],".repeat(200)}1]},`.repeat(200)}1]}}`,
        `{"select":[${"{},".repeat(50_000)}1]}`,
        `{"sort":[${"[{}],".repeat(50_000)}1]}`,
        `{"page":[${"[{}],".repeat(50_000)}1]}`,
        `{"other":[${"[{}],".repeat(50_000)}1]}`,
      ]
    ) {
      const { value } = await parseJsonInSlices(text, { useOf: useOfQuery() });
      assert(count(value) < 15_000, `${count(value)} of ${text.slice(0, 40)}`);
    }
  });

  it("is rejected for a repeated key, U+0000 and bad syntax in parts that are not kept [RE27]", async () => {
    const late = `[${"{},".repeat(5000)}`;
    for (
      const [end, expected] of [
        ['{"a":1,"a":2}]', /the key "a" appears twice at fields\.no\[5000\]\.a/],
        ["}]", /not valid JSON at line 1, column \d+/],
        [`${"[".repeat(70)}`, /nested too deeply/],
      ] as const
    ) {
      const error = await parse(`{"no":${late}${end}}`).catch((error) => error);
      assert(error instanceof ApiError && expected.test(error.message), String(error));
    }
    const text = `{"fields":{"no":${late}"\\u0000"]}}`;
    const { issues } = await parseJsonInSlices(text, { useOf });
    assertEquals(issues.length, 1);
  });
});
