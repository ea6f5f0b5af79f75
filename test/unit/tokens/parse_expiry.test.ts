import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { parseDuration, parseExpiry } from "../../../src/access/tokens/parse_expiry.ts";

describe("parseExpiry", () => {
  it("reads never, a time from now, and a day in UTC [A16]", () => {
    assertEquals(parseExpiry("never"), { kind: "never" });
    assertEquals(parseExpiry("90d"), { kind: "after", seconds: 7_776_000 });
    assertEquals(parseExpiry("12h"), { kind: "after", seconds: 43_200 });
    assertEquals(parseExpiry("2027-01-31"), { kind: "at", time: "2027-01-31T00:00:00.000Z" });
    assertEquals(
      parseExpiry("2027-01-31T12:30+02:00"),
      { kind: "at", time: "2027-01-31T10:30:00.000Z" },
    );
  });

  const rejected = [
    "",
    "0",
    "0d",
    "90",
    "d",
    "-1d",
    "90D",
    "1.5d",
    "90x",
    "2027-02-30",
    "2027-13-01",
  ];
  for (const text of [...rejected, "31.01.2027", "2027-1-31", "Never", "99999999y", "90d "]) {
    it(`rejects ${JSON.stringify(text)} [A16]`, () => {
      assertEquals(parseExpiry(text), undefined);
    });
  }
});

describe("parseDuration", () => {
  it("reads an overlap, none as well", () => {
    assertEquals(parseDuration("24h"), 86_400);
    assertEquals(parseDuration("0"), 0);
    assertEquals(parseDuration("30m"), 1800);
    assertEquals(parseDuration("day"), undefined);
  });
});
