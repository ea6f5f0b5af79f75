import { assert, assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import {
  isJsonText,
  parseExact,
  parseExactFilter,
  parseResponse,
  writeExact,
  writeIndented,
} from "../../../src/describe/reference/exact_json.ts";

const LOSSY = [
  '{"a":1.50}',
  '{"a":12345678901234567890}',
  "[0.1234567890123456789,1e400]",
  '{"a":1,"a":2}',
  '{"b":1,"1":2}',
  "-0",
  "1e+20",
];

describe("JSON that is kept exactly", () => {
  for (const json of LOSSY) {
    it(`writes ${json} as it was read, in one line and in several [CL4]`, () => {
      const value = parseExact(` ${json.replaceAll(":", " : ")}\n`);
      assert(isJsonText(value));
      assertEquals([writeExact(value), String(value)], [json, json]);
      assertEquals(writeExact(parseExact(writeIndented(value))), json);
      assertEquals(writeExact({ x: [value, null] }), `{"x":[${json},null]}`);
    });
  }

  it("is an ordinary value where nothing would be lost, and an error where it is none [CL4]", () => {
    for (const value of [{ a: [1, "x: {", null, { b: {} }] }, "12", 1.5, true, null, []]) {
      assertEquals(parseExact(JSON.stringify(value, null, 1)), value);
      assertEquals(writeExact(value), JSON.stringify(value));
    }
    assertThrows(() => parseExact("{"), SyntaxError);
  });

  it("is indented as JSON.stringify does it [CL4]", () => {
    const json = '{"a":1.50,"b":[],"c":[{"d":"{,"},{}]}';
    const plain = JSON.stringify(JSON.parse(json), null, 2).replace("1.5", "1.50");
    assertEquals(writeIndented(parseExact(json)), plain);
  });

  it("is found in records, keys and conditions of a response or an address [CL4]", () => {
    const page =
      '{"success":true,"records":[{"id":1,"j":{"n":1.50},"t":"a, ]","z":null}],"total":1}';
    assertEquals(writeExact(parseResponse(page)), page);
    assertEquals(parseResponse<{ total: number }>(page).total, 1);
    const event = '{"type":"upsert","key":{"f":-0},"record":{"j":[1.0]}}';
    assertEquals(writeExact(parseResponse(event)), event);
    const filter = '{"and":[{"or":[{"field":"j","op":"contains","value":{"n":1.50}}]}]}';
    assertEquals(writeExact(parseExactFilter(filter)), filter);
  });
});
