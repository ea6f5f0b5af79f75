import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFindings } from "../../../src/console/finding.ts";

describe("the text of an error", () => {
  it("is taken apart into places and what is wrong there", () => {
    assertEquals(
      readFindings(
        'filters.and[0].value[1]: "a; b" does not fit; sort[0].field: Unknown column "x"',
      ),
      [
        { path: "filters.and[0].value[1]", message: '"a; b" does not fit' },
        { path: "sort[0].field", message: 'Unknown column "x"' },
      ],
    );
  });

  it("stays whole where it names no place", () => {
    const text = "77 rows match the filters, more than max-affected=10; nothing was changed";
    assertEquals(readFindings(text), [{ path: "", message: text }]);
    const table = 'table: "x" was not found';
    assertEquals(readFindings(table), [{ path: "", message: table }]);
  });
});
