import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { checkCollations, type CollationVersions } from "../../../src/cli/doctor/collations.ts";

describe("the collations of a standby", () => {
  const primary = { libc: "2.36", "und-x-icu": "153.120", "de-x-icu": "153.120.44" };
  const find = (standby: CollationVersions, of: CollationVersions = primary) =>
    checkCollations("b:5432", { primary: of, standby }).map(({ id, what }) => [id, what]);

  it("are no finding where they are the same, or where nothing is known [R63]", () => {
    const same: readonly CollationVersions[] = [primary, {}, { libc: "2.36" }, { "sv-x-icu": "1" }];
    for (const standby of same) assertEquals(find(standby), []);
    assertEquals(find(primary, {}), []);
  });

  it("are named with both versions where they differ [R63]", () => {
    assertEquals(find({ ...primary, libc: "2.31" }), [
      ["collations:b:5432", "b:5432 of DATABASE_READ_URL sorts by libc 2.31 (primary: 2.36)"],
    ]);
    assertEquals(find({ ...primary, "und-x-icu": "9", "de-x-icu": "8" }), [[
      "collations:b:5432",
      "b:5432 of DATABASE_READ_URL sorts by de-x-icu 8 (primary: 153.120.44), " +
      "und-x-icu 9 (primary: 153.120)",
    ]]);
  });
});
