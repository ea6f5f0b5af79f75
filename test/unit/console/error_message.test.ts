import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readIssues } from "../../../src/console/error_message.tsx";

describe("the text of an error", () => {
  it("is split into paths and messages", () => {
    assertEquals(
      readIssues(
        'filters.and[0].value[1]: "a; b" does not fit; sort[0].field: Unknown column "x"',
      ),
      [
        { path: "filters.and[0].value[1]", message: '"a; b" does not fit' },
        { path: "sort[0].field", message: 'Unknown column "x"' },
      ],
    );
  });

  it("stays whole when it names no path", () => {
    const text = "77 rows match the filters, more than max-affected=10; nothing was changed";
    assertEquals(readIssues(text), [{ path: "", message: text }]);
    const table = 'table: "x" was not found';
    assertEquals(readIssues(table), [{ path: "", message: table }]);
  });

  it("gives no issue for no error", () => {
    assertEquals(readIssues(undefined), []);
  });
});
