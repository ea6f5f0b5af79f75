import { assertEquals, assertStringIncludes, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { type Path, pathOf, printPath } from "../../../src/basics/errors/issue.ts";
import { parseJson, parseJsonInSlices } from "../../../src/basics/json/parse_json.ts";
import { readJson } from "../../support/read_json.ts";

import fc from "fast-check";

function reject(text: string): string {
  const error = assertThrows(() => parseJson(text), ApiError);
  assertEquals((error as ApiError).status, 400);
  return (error as ApiError).message;
}

function paths(text: string): string[] {
  return parseJson(text).issues.map((issue) => printPath(issue.path));
}

/** Numbers that a double does not hold are issues, which the law leaves out. */
const SAFE_JSON = fc.jsonValue({ maxDepth: 4, noUnicodeString: false })
  .map((value) => JSON.stringify(value, (_key, item) => typeof item === "number" ? 1.5 : item));

describe("parseJson", () => {
  it("gives the same in slices: value, issues or error [RE18]", async () => {
    const text = fc.oneof(
      SAFE_JSON,
      fc.json(),
      fc.string({ unit: fc.constantFrom(...'[]{},:"a1\\u ') }),
    );
    const outcome = async (parse: () => unknown) => {
      try {
        return JSON.stringify(await parse());
      } catch (error) {
        return (error as ApiError).message;
      }
    };
    await fc.assert(fc.asyncProperty(text, async (text) => {
      const whole = await outcome(() => parseJson(text));
      assertEquals(await outcome(() => parseJsonInSlices(text, { sliceMs: 0 })), whole);
    }));
  });

  it("yields to the event loop while it reads a long document [FS10] [RE18]", async () => {
    for (const [item, end] of [["{},", "1]"], ["[[1]],", "1]"], ["1e5,", "x"]]) {
      let beats = 0;
      const timer = setInterval(() => beats++, 0);
      const text = `[${item!.repeat(20_000)}${end}`;
      const parsed = await Promise.resolve(parseJsonInSlices(text, { sliceMs: 0 }))
        .then(() => true, () => false);
      clearInterval(timer);
      assertEquals(parsed, end === "1]");
      // Of 20,000 values at most 500 are read between two looks at the clock.
      assertEquals(beats > 10, true, `${beats} beats`);
    }
  });

  it("agrees with JSON.parse on every document that has no key twice [E13]", () => {
    fc.assert(fc.property(SAFE_JSON, fc.constantFrom(undefined, 1, "\t"), (text, indent) => {
      const document = readJson(text);
      const printed = JSON.stringify(document, undefined, indent);
      assertEquals(JSON.stringify(parseJson(printed).value), JSON.stringify(document));
    }));
  });

  it("reads keys independently of earlier documents [TV28]", () => {
    // V8's parser mistakes a key for an earlier one with a similar spelling: nodejs/node#63785.
    for (
      const [earlier, later] of [
        [String.raw`{"h":[],"\\":0}`, String.raw`{"h":1,"\"":2}`],
        [String.raw`{"h":[],"\\n":0}`, String.raw`{"h":1,"\nx":2}`],
        [String.raw`{"h":[],"a\\":0}`, String.raw`{"h":1,"a\"":2}`],
      ]
    ) {
      JSON.parse(earlier!);
      parseJson(earlier!);
      assertEquals(JSON.stringify(parseJson(later!).value), later);
      assertEquals(JSON.stringify(readJson(later!)), later);
    }
  });

  it("gives a value or a 400 for any text [E16]", () => {
    const pieces = fc.constantFrom(...'{}[],:"\\ue019+-.EtTfn \n\0x'.split(""), "true", "null");
    fc.assert(fc.property(fc.array(pieces), (parts) => {
      const text = parts.join("");
      let expected: string | undefined;
      try {
        expected = JSON.stringify(JSON.parse(text));
      } catch { /* not JSON */ }
      if (expected === undefined) assertStringIncludes(reject(text), "body: ");
      else if (new Set(text.match(/"[^"]*"(?=\s*:)/g)).size > 1) return;
      else assertEquals(parseJson(text).value !== undefined, true);
    }));
  });

  for (
    const [text, expected] of [
      ["", "body: the body is empty, expected a JSON object"],
      [" \n", "body: the body is empty, expected a JSON object"],
      ['{"a":1,}', "body: not valid JSON at line 1, column 8, expected a key in double quotes"],
      ["{'a':1}", "body: not valid JSON at line 1, column 2, expected a key in double quotes"],
      ['{\n "a" 1}', 'body: not valid JSON at line 2, column 6, expected ":"'],
      ["[1 2]", 'body: not valid JSON at line 1, column 4, expected "," or "]"'],
      ["[01]", 'body: not valid JSON at line 1, column 3, expected "," or "]"'],
      ['{"a":NaN}', "body: not valid JSON at line 1, column 6, expected a value"],
      ["-", "body: not valid JSON at line 1, column 1, expected a digit"],
      ["/*x*/{}", "body: not valid JSON at line 1, column 1, expected a value"],
      ['"a\nb"', "body: not valid JSON at line 1, column 3, expected control characters"],
      ['"\\x"', "body: not valid JSON at line 1, column 2, expected an escape"],
      ['"\\u12g4"', "body: not valid JSON at line 1, column 2, expected an escape"],
      ['{"a":"b', 'body: the JSON ends too early, at line 1, column 8, expected a closing "'],
      ["{} {}", "body: not valid JSON at line 1, column 4, expected nothing after"],
      ["\u00a0{}", "body: not valid JSON at line 1, column 1, expected a value"],
    ] as const
  ) {
    it(`reports where ${JSON.stringify(text)} is not JSON [HT13]`, () => {
      assertStringIncludes(reject(text), expected);
    });
  }

  it("rejects a repeated key, even when it is written with escapes [E13]", () => {
    assertEquals(
      reject(String.raw`{"filters":{"fid":1,"\u0066id":2}}`),
      'body: the key "fid" appears twice at filters.fid, expected it once',
    );
    assertStringIncludes(reject('{"__proto__":1,"__proto__":2}'), '"__proto__" appears twice');
    assertEquals(paths('{"a":{"x":1},"b":{"x":1}}'), []);
  });

  it("accepts 64 levels and rejects 65 [L17] [P24]", () => {
    assertEquals(paths("[".repeat(64) + "]".repeat(64)), []);
    assertStringIncludes(reject("[".repeat(65) + "]".repeat(65)), "expected at most 64 levels");
    assertStringIncludes(reject("[".repeat(1_000_000)), "nested too deeply");
  });

  it("treats __proto__ and constructor like any other key [J1]", () => {
    const value = parseJson('{"__proto__":{"polluted":1},"constructor":"x"}').value as object;
    assertEquals(Object.keys(value), ["__proto__", "constructor"]);
    assertEquals((value as Record<string, unknown>).polluted, undefined);
    assertEquals(({} as Record<string, unknown>).polluted, undefined);
    assertEquals("toString" in value, false);
  });

  for (
    const number of [
      "9007199254740992",
      "-9007199254740993",
      "12345678901234567890",
      "0.1000000000000000055",
      "1.00000000000000000001",
      "1e400",
      "-1e400",
      "1e-400",
      "123456789012345.678901",
    ]
  ) {
    it(`finds that a double does not hold ${number} [V9] [V10]`, () => {
      const [issue] = parseJson(`{"a":[${number}]}`).issues;
      assertEquals(printPath(issue!.path), "a[0]");
      assertEquals(
        issue!.message,
        `${number} cannot be held exactly by a JSON number, send it as a string`,
      );
    });
  }

  for (
    const number of [
      "9007199254740991",
      "-9007199254740991",
      "0.30000000000000004",
      "1.0",
      "1E5",
      "0.1e1",
      "-0",
      "-0.0e-5",
      "0e999",
      "5e-324",
      "100000000000000000000e-10",
      "1.50000000000000000000000",
      "123456789012.345",
    ]
  ) {
    it(`accepts ${number}, which a double holds [V10]`, () => {
      const { value, issues } = parseJson(number);
      assertEquals(issues, []);
      assertEquals(Object.is(value, Number(number)), true);
    });
  }

  it("accepts every double in the safe range as JavaScript prints it [V10]", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, max: 2 ** 53 - 1, min: 1 - 2 ** 53 }), (number) => {
        const { value, issues } = parseJson(String(number));
        assertEquals(issues, []);
        assertEquals(value === number, true);
      }),
    );
  });

  for (
    const [text, path, what] of [
      [String.raw`{"a":"x\u0000"}`, "a", "the character U+0000"],
      [String.raw`["\ud800"]`, "[0]", "half of a surrogate pair"],
      [String.raw`["\udc00\ud800"]`, "[0]", "half of a surrogate pair"],
      ['["\ud800"]', "[0]", "half of a surrogate pair"],
      [String.raw`{"a":{"\ud800":1}}`, String.raw`a["\ud800"]`, "the key holds half"],
      [String.raw`{"\u0000":1}`, String.raw`["\u0000"]`, "the key holds the character U+0000"],
    ] as const
  ) {
    it(`finds ${what} in ${JSON.stringify(text)} [V7] [V8]`, () => {
      const [issue, ...others] = parseJson(text).issues;
      assertEquals([printPath(issue!.path), others], [path, []]);
      assertStringIncludes(issue!.message, what);
    });
  }

  it("accepts surrogate pairs, raw and as escapes [TV28]", () => {
    const { value, issues } = parseJson('["😀", "\\ud83d\\ude00", "\\u2028é"]');
    assertEquals({ value, issues }, { value: ["😀", "😀", "\u2028é"], issues: [] });
  });

  it("prints any part of the document, its members as the client wrote them [RE18]", () => {
    const { value, print } = parseJson(' {"fields" : {"a": [ 1.0, {"b":[ ]} ], "c": "\\u0041"}} ');
    const { fields } = value as { fields: { a: [number, { b: unknown }]; c: string } };
    assertEquals(print(fields), '{"a": [ 1.0, {"b":[ ]} ], "c": "\\u0041"}');
    assertEquals(print(fields.a), '[ 1.0, {"b":[ ]} ]');
    assertEquals([fields.a[1], fields.a[1].b, fields.c].map(print), ['{"b":[]}', "[]", '"A"']);
    fc.assert(fc.property(SAFE_JSON, fc.constantFrom(undefined, 1, "\t"), (text, indent) => {
      const { value, print } = parseJson(JSON.stringify(readJson(text), undefined, indent));
      const parts = [value, ...Object.values(value ?? {})];
      for (const part of parts) {
        assertEquals(JSON.stringify(readJson(print(part))), JSON.stringify(part));
      }
    }));
  });

  it("keeps the text of a number only if it would print differently [TV30] [V11]", () => {
    const text = '{"a": {"b": 1.50, "c": 1.5, "constructor": 1E5}, "d": [2, -0, [1.0]], "e": 1.0}';
    const { value, literalsIn } = parseJson(text);
    const literals = (path: Path) => ({ ...literalsIn(path) }) as Record<string, string>;
    assertEquals((value as { a: unknown }).a, { b: 1.5, c: 1.5, constructor: 100000 });
    assertEquals(literals(pathOf("a")), { b: "1.50", constructor: "1E5" });
    assertEquals(literals(pathOf("d")), { 1: "-0" });
    assertEquals(literals(pathOf("d", 2)), { 0: "1.0" });
    assertEquals(literals(null), { e: "1.0" });
    for (const path of [pathOf("e"), pathOf("x", "y"), pathOf("a", "b")]) {
      assertEquals(literalsIn(path), undefined);
    }
    assertEquals(parseJson('{"a": 1.5, "b": 20}').literalsIn(null), undefined);
  });

  it("prints each entry of an array as the client wrote it [TV30] [V11]", () => {
    const entries = fc.array(SAFE_JSON);
    fc.assert(fc.property(entries, (texts) => {
      const own = texts.map((text) => text.trim());
      const { value, printEach } = parseJson(`{"fields": {"a": [ ${own.join(" ,\n")} ]}}`);
      assertEquals(printEach((value as { fields: { a: unknown[] } }).fields.a), own);
    }));
    assertEquals(parseJson("[1]").printEach([1.5, { a: [] }]), ["1.5", '{"a":[]}']);
  });

  it("gives a limited number of issues, in document order [E9]", () => {
    assertEquals(paths('{"b":1e999,"a":[1,1e999,{"c":1e999}]}'), ["b", "a[1]", "a[2].c"]);
    assertEquals(
      paths(`[${"1e999,".repeat(1000)}1]`).slice(0, 5),
      [0, 1, 2, 3, 4].map((i) => `[${i}]`),
    );
  });
});
