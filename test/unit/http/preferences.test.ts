import { assertEquals, assertThrows } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { ApiError } from "../../../src/basics/errors/api_error.ts";
import { parsePreferences } from "../../../src/http/preferences.ts";
import { wantsWideNumbersAsText } from "../../../src/http/preferences.ts";

const NONE = {
  count: true,
  pageToken: false,
  maxAffected: undefined,
  rollback: false,
  applied: undefined,
};

function reject(header: string, operation: "query" | "update"): string {
  const error = assertThrows(() => parsePreferences(header, operation), ApiError) as ApiError;
  assertEquals(error.status, 400);
  return error.message;
}

describe("parsePreferences", () => {
  it("asks for nothing without the header [U46]", () => {
    assertEquals(parsePreferences(null, "query"), NONE);
    assertEquals(parsePreferences("", "update"), NONE);
  });

  it("reads count=none for a query, in any case and quoted [Q88]", () => {
    for (const header of ["count=none", "Count=None", 'count = "none"; x=y', ", count=none,"]) {
      assertEquals(parsePreferences(header, "query"), {
        ...NONE,
        count: false,
        applied: "count=none",
      });
    }
  });

  it("reads page-token for a query, and leaves open whether it is applied [Q93]", () => {
    for (const header of ["page-token", "Page-Token", "handling=lenient, page-token; x=y"]) {
      const { pageToken, applied } = parsePreferences(header, "query");
      assertEquals([pageToken, applied?.includes("page-token") ?? false], [true, false], header);
    }
    assertEquals(parsePreferences("handling=strict, page-token", "query").pageToken, true);
    assertEquals(parsePreferences("page-token=5", "query"), NONE);
    assertEquals(parsePreferences("page-token", "update"), NONE);
  });

  it("reads max-affected and tx for updates [U44] [U45]", () => {
    assertEquals(parsePreferences("max-affected=10, tx=rollback", "update"), {
      ...NONE,
      maxAffected: 10,
      rollback: true,
      applied: "max-affected=10, tx=rollback",
    });
    assertEquals(parsePreferences("max-affected=0", "update").maxAffected, 0);
  });

  it("lets the first of two equal preferences count", () => {
    assertEquals(parsePreferences("max-affected=1, MAX-AFFECTED=2", "update").maxAffected, 1);
  });

  it("ignores unknown preferences and those of other operations [U48]", () => {
    const header = "respond-async, wait=10, count=exact, max-affected=x, tx=commit";
    assertEquals(parsePreferences(header, "query"), NONE);
    assertEquals(parsePreferences("count=none", "update"), NONE);
  });

  it("does not split at a comma in quotes", () => {
    assertEquals(parsePreferences('x="a, count=none, \\"b"', "query"), NONE);
  });

  for (
    const [header, operation, expected] of [
      ["handling=strict, foo=1", "query", 'Prefer: "foo=1" is not a preference of this operation'],
      ["tx=rollback, handling=strict", "query", 'Prefer: "tx=rollback" is not a preference of'],
      ["handling=strict, count=none", "update", 'Prefer: "count=none" is not a preference of'],
      ["handling=strict, count=exact", "query", "expected one of handling=strict, count=none"],
      ["handling=strict, max_affected=1", "update", 'did you mean "max-affected"'],
    ] as const
  ) {
    it(`rejects ${header} on ${operation}, naming the unknown preference [U49]`, () => {
      assertEquals(reject(header, operation).includes(expected), true);
    });
  }

  it("reports that strict handling was applied [U46]", () => {
    const { applied } = parsePreferences("handling=strict, count=none", "query");
    assertEquals(applied, "handling=strict, count=none");
  });

  for (const value of ["", "=", "=-1", "=1.5", "=ten", "=1e3", "=99999999999999999999"]) {
    it(`rejects max-affected${value} even when lenient, or no limit would hold [U50]`, () => {
      const message = reject(`max-affected${value}, handling=lenient`, "update");
      assertEquals(message.startsWith("Prefer: max-affected is "), true);
    });
  }

  it("rejects a tx other than rollback, or the change would be kept [U50]", () => {
    assertEquals(reject("tx=rolback", "update"), 'Prefer: tx is "rolback", expected tx=rollback');
  });
});

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
