import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { nearest } from "../../../src/basics/text/nearest.ts";

const NAMES = ["id", "status", "modified_at", "customer_number", "eq", "in"];

describe("nearest", () => {
  for (
    const [name, expected] of [
      ["Status", "status"],
      ["statsu", "status"],
      ["MODIFIED_AT", "modified_at"],
      ["modifiedAt", "modified_at"],
      ["custmr_numbr", "customer_number"],
      ["nothing_like_it", undefined],
      ["xx", undefined],
      ["", undefined],
      ["s".repeat(1_000_000), undefined],
    ] as const
  ) {
    it(`gives ${expected} for ${name.slice(0, 20)} [E10]`, () => {
      assertEquals(nearest(name, NAMES), expected);
    });
  }
});
