import { assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import type { ValueKind } from "../../../src/catalogue/value_kind.ts";
import { checkScalar, isCertain } from "../../../src/records/plan/value.ts";
import { makeColumn } from "../../support/table.ts";

type Case = readonly [
  kind: ValueKind,
  value: string | number | boolean,
  verdict: string | RegExp,
];

const ACCEPTED: readonly Case[] = [
  ["text", "it's", "it's"],
  ["text", 12.5, "12.5"],
  ["text", true, "true"],
  ["text", -0, "0"],
  ["boolean", true, "true"],
  ["boolean", 1, "1"],
  ["boolean", 0, "0"],
  ["boolean", " YES ", " YES "],
  ["boolean", "tru", "tru"],
  ["int2", 32767, "32767"],
  ["int2", -32768, "-32768"],
  ["int4", "2147483647", "2147483647"],
  ["int4", " +12 ", " +12 "],
  ["int4", -0, "0"],
  ["int8", "9223372036854775807", "9223372036854775807"],
  ["int8", "-9223372036854775808", "-9223372036854775808"],
  ["numeric", 0.1, "0.1"],
  ["numeric", "1234567890123456789012345678901.5", "1234567890123456789012345678901.5"],
  ["numeric", "1e5", "1e5"],
  ["numeric", "Infinity", "Infinity"],
  ["float8", "NaN", "NaN"],
  ["float8", "-inf", "-inf"],
  ["float8", 1e-7, "1e-7"],
  ["float8", -0, "-0"],
  ["float4", -0, "-0"],
  ["numeric", -0, "0"],
  ["float4", "1e40", "1e40"],
  ["uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
  ["uuid", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}", "{A0EEBC999C0B4EF8BB6D6BB9BD380A11}"],
  ["json", 12, "12"],
  ["json", true, "true"],
  ["json", "{", "{"],
  ["other", "10.0.0.1", "10.0.0.1"],
  ["bytea", "\\x00ff", "\\x00ff"],
  ["array", "{1,2}", "{1,2}"],
];

const REJECTED: readonly Case[] = [
  ["boolean", "maybe", /^true or false$/],
  ["boolean", "o", /^true or false$/],
  ["boolean", 2, /^true or false$/],
  ["int2", 32768, /-32768 to 32767/],
  ["int4", 1.5, /whole number/],
  ["int4", true, /whole number/],
  ["int4", "12a", /whole number/],
  ["int4", "2147483648", /2147483647/],
  ["int4", "1.0", /whole number/],
  ["int4", "", /whole number/],
  ["int4", "\u00a01", /whole number/],
  ["boolean", "\u20031", /true or false/],
  ["int4", "0x1F", /whole number/],
  ["int4", "1_000", /whole number/],
  ["int8", "9223372036854775808", /9223372036854775807/],
  ["numeric", "1,5", /a number/],
  ["numeric", "", /a number/],
  ["numeric", false, /a number/],
  ["float8", "abc", /a number/],
  ["uuid", "a0eebc99", /a uuid/],
  ["uuid", 5, /a uuid/],
  ["other", 5, /a string that is a value of type inet/],
  ["bytea", true, /a string/],
  ["array", 1, /a string/],
];

const LIMITS = { maxTsqueryCharacters: 20_000 };

describe("checkScalar [V1]", () => {
  for (const [kind, value, text] of ACCEPTED) {
    it(`accepts ${JSON.stringify(value)} for ${kind}`, () => {
      assertEquals(checkScalar(value, makeColumn("c", kind), LIMITS), { text: text as string });
    });
  }

  for (const [kind, value, expected] of REJECTED) {
    it(`rejects ${JSON.stringify(value)} for ${kind} [V2]`, () => {
      const checked = checkScalar(value, makeColumn("c", kind), LIMITS);
      assertMatch("expected" in checked ? checked.expected : "", expected as RegExp);
    });
  }

  it("is not certain of any value of a domain", () => {
    const column = makeColumn("c", "int4", { domain: true, type: "positive" });
    assertEquals(checkScalar(5, column, LIMITS), { text: "5" });
    assertEquals("expected" in checkScalar("x", column, LIMITS), true);
    assertEquals([isCertain(column), isCertain(makeColumn("c", "int4"))], [false, true]);
  });

  it("accepts a label of an enum, and suggests the nearest for a misspelt one", () => {
    const column = makeColumn("c", "enum", { type: "stage", labels: ["open", "won"] });
    assertEquals(checkScalar("won", column, LIMITS), { text: "won" });
    assertEquals(checkScalar("wonn", column, LIMITS), {
      expected: 'a value of type stage, did you mean "won"',
    });
    assertEquals(checkScalar("zzzzzz", column, LIMITS), { expected: 'one of "open", "won"' });
  });

  it("rejects what Postgres would cut silently: a long name, a long char", () => {
    const name = makeColumn("c", "text", { type: "name" });
    assertEquals("text" in checkScalar("é".repeat(31), name, LIMITS), true);
    assertEquals("expected" in checkScalar("é".repeat(32), name, LIMITS), true);
    const char = makeColumn("c", "text", { type: "char" });
    assertEquals("text" in checkScalar("a", char, LIMITS), true);
    assertEquals("expected" in checkScalar("ab", char, LIMITS), true);
    assertEquals("expected" in checkScalar(12, char, LIMITS), true);
  });

  it("limits each tsquery, wherever one may be, and says to how much [RE22] [L11]", () => {
    const limits = { maxTsqueryCharacters: 8 };
    const query = makeColumn("c", "other", { type: "tsquery" });
    const composite = makeColumn("c", "composite", { type: "pair" });
    for (const column of [query, composite]) {
      assertEquals(checkScalar("a&b&c&de", column, limits), { text: "a&b&c&de" });
      assertEquals(checkScalar("a&b&c&def", column, limits), {
        expected: "at most 8 characters",
      });
      assertEquals("text" in checkScalar("a&b&c&def", column, LIMITS), true);
    }
    const list = makeColumn("c", "array", { type: "tsquery[]" });
    assertEquals("text" in checkScalar("{a&b&c&de,a&b&c&de}", list, limits), true);
    assertEquals(checkScalar("{a&b&c&de,a&b&c&def}", list, limits), {
      expected: "at most 8 characters in each element",
    });
    const inet = makeColumn("c", "other", { type: "inet" });
    assertEquals("text" in checkScalar("255.255.255.255", inet, limits), true);
  });

  it("says how many zeros exponents may add [RE25] [L18]", () => {
    const numeric = makeColumn("c", "numeric");
    assertEquals(checkScalar("1e1006", numeric, LIMITS), { text: "1e1006" });
    assertEquals(checkScalar("1e1007", numeric, LIMITS), {
      expected: "exponents that add at most 1006 zeros",
    });
    const digits = "1".repeat(2000);
    assertEquals(checkScalar(`${digits}e3005`, numeric, LIMITS), { text: `${digits}e3005` });
  });

  // Without a limit of time: a check in quadratic time would take hours.
  it("reads a text of 1 MiB in linear time, whatever the type", () => {
    const texts = ["7", " ", "1.", ".1", "e", "-", "a0eebc99-", "t", "{"].flatMap((piece) => {
      const text = piece.repeat(Math.floor(1_048_576 / piece.length));
      return [`${text}x`, `x${text}`, `7${text}x`, `1.${text}x`, `${text}.${text}e`];
    });
    for (const kind of ["boolean", "int8", "float8", "numeric", "uuid"] as const) {
      const misfits = texts.filter((text) =>
        "expected" in checkScalar(text, makeColumn("c", kind), LIMITS)
      );
      assertEquals(misfits.length, texts.length, kind);
    }
  });
});
