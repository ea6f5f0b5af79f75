import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";

const guide = await readFile(new URL("../../docs/guide.md", import.meta.url), "utf8");

describe("the guide's list of operators", () => {
  it("says that neq, not_in and not_like leave out rows whose column is NULL [Q48]", () => {
    const section = guide.slice(guide.indexOf("### Operators"), guide.indexOf("A scalar is"));
    const rows = section.split("\n").filter((line) => /^\| `(neq|not_in|not_like)`/.test(line));
    assertEquals(rows.length, 3);
    for (const row of rows) assertEquals(/^\*\*no\*\*/.test(row.split("|")[4]!.trim()), true, row);
    assertEquals(/NULL/.test(section.split("\n").find((line) => line.startsWith("| op"))!), true);
  });
});
