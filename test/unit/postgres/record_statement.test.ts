import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { collapseSpace, flatten, recordStatement } from "../../../src/postgres/record_statement.ts";

describe("flatten", () => {
  it("collapses the white space around parameters and fragments", () => {
    const texts = flatten(recordStatement((sql) =>
      sql`
        select (
          select count(*)
          from t
          where a = ${"1"}::text
            ${sql``}
            and b = ${"2"}
        )::text total
        ${sql`, 1 one`}
      `
    ));
    assertEquals(texts, [
      "select (select count(*) from t where a = ",
      "::text and b = ",
      ")::text total, 1 one",
    ]);
  });
});

describe("collapseSpace", () => {
  it("leaves quoted names and strings as they are", () => {
    const quoted = [`"a  b"`, `"a\n)"`, `"a  ""  b"`, `'  '`, `'( a''  , b )'`, `"'  '"`];
    for (const name of quoted) assertEquals(collapseSpace(name), name);
    assertEquals(collapseSpace(`select\n  ${quoted.join("  ")}`), `select ${quoted.join(" ")}`);
  });
});
