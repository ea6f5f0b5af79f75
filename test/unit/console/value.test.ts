import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { Field } from "../../../src/console/api.ts";
import { parseNewValue } from "../../../src/console/value.ts";
import { parseValue } from "../../../src/describe/reference/example_value.ts";

describe("a typed value", () => {
  it("is a number only if a double holds it exactly", () => {
    for (
      const [text, value] of [
        ["12", 12],
        [" 19.90 ", 19.9],
        ["-0.5", -0.5],
        ["9007199254740993", "9007199254740993"],
        ["123456789012345.25", "123456789012345.25"],
        ["007", "007"],
        ["1e5", "1e5"],
        ["NaN", "NaN"],
        ["", ""],
      ] as const
    ) assertEquals(parseValue(text, "numeric"), value, text);
  });

  it("is a boolean in a boolean column and text in others", () => {
    assertEquals(parseValue("true", "bool"), true);
    assertEquals(parseValue("maybe", "bool"), "maybe");
    assertEquals(parseValue("true", "text"), "true");
    assertEquals(parseValue(" 12 ", "text"), " 12 ");
    assertEquals(parseValue("2026-01-31", "date"), "2026-01-31");
  });

  it("is JSON as a new value of a JSON column or an array", () => {
    const field = (type: string) => ({ type }) as Field;
    assertEquals(parseNewValue('{"a": [1]}', field("jsonb")), { a: [1] });
    assertEquals(parseNewValue('["x"]', field("text[]")), ["x"]);
    assertEquals(parseNewValue("no JSON", field("json")), "no JSON");
    assertEquals(parseNewValue("7", field("int4")), 7);
  });
});
