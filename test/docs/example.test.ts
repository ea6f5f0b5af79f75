import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { compactJson, matches, readExamples } from "./example.ts";
import { printJson } from "./print_json.ts";

const FENCE = "```";

describe("readExamples", () => {
  it("pairs a request with the response below it", () => {
    const [example, ...others] = readExamples(
      `${FENCE}http\nPOST /a\nPrefer: x=y\n\n{}\n${FENCE}\ntext\n${FENCE}http\nHTTP/1.1 404 Not Found\n\n{"a": 1}\n${FENCE}\n`,
    );
    assertEquals(others, []);
    assertEquals(example?.request.path, "/a");
    assertEquals(example?.request.headers.get("prefer"), "x=y");
    assertEquals(example?.request.body, "{}");
    assertEquals(example?.response.status, 404);
    assertEquals(example?.response.body, '{"a": 1}');
    assertEquals(example?.response.lines, [8, 11]);
  });

  it("reads a curl command over several lines", () => {
    const [example] = readExamples(
      `${FENCE}sh\ncurl -s -X PATCH http://h/p \\\n  -H 'A: b' \\\n  -d '{"c": 1}'\n${FENCE}\n${FENCE}json\n{}\n${FENCE}\n`,
    );
    assertEquals(example?.request.method, "PATCH");
    assertEquals(example?.request.path, "/p");
    assertEquals(example?.request.headers.get("a"), "b");
    assertEquals(example?.request.body, '{"c": 1}');
  });

  it("throws for a request without a response", () => {
    assertThrows(() => readExamples(`${FENCE}http\nGET /a\n${FENCE}\n`));
  });
});

describe("compactJson", () => {
  it("removes white space between tokens only, and keeps digits", () => {
    assertEquals(compactJson('{ "a b": [1.50,\n 2 ] }'), '{"a b":[1.50,2]}');
  });
});

describe("matches", () => {
  it("matches … with any text without a quote", () => {
    assertEquals(matches('{"a":"xyz"}', '{"a":"x…"}'), true);
    assertEquals(matches('{"a":"x","b":"y"}', '{"a":"…"}'), false);
    assertEquals(matches("1.5", "1?5"), false);
  });
});

describe("printJson", () => {
  it("keeps every digit and breaks long lines", () => {
    assertEquals(printJson('{"a":1.50,"b":[]}'), '{ "a": 1.50, "b": [] }');
    const long = `{"a":"${"x".repeat(90)}","b":{"c":null}}`;
    assertEquals(printJson(long), `{\n  "a": "${"x".repeat(90)}",\n  "b": { "c": null }\n}`);
  });
});
