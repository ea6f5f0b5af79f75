import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { wantsWideNumbersAsText } from "../../../src/http/accept.ts";

describe("wantsWideNumbersAsText", () => {
  for (
    const [accept, expected] of [
      ["application/json;IEEE754Compatible=true", true],
      ["application/json; ieee754compatible=TRUE", true],
      ['text/html, application/json;q=0.5;IEEE754Compatible="true"', true],
      ["application/json;IEEE754Compatible=false", false],
      ["application/json;x=IEEE754Compatible", false],
      ["text/html;IEEE754Compatible=true", false],
      ["application/json", false],
      ["image/png", false],
      [null, false],
    ] as const
  ) {
    it(`is ${expected} for ${accept} [V21]`, () => {
      assertEquals(wantsWideNumbersAsText(accept), expected);
    });
  }
});
