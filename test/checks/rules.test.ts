import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { listCitations } from "../../scripts/checks/citations.ts";
import { collectRules } from "../../scripts/checks/rules.ts";

/** Collects the rules of a page of these lines. */
function collect(...lines: readonly string[]) {
  return collectRules([{ path: "page.md", text: lines.join("\n") }]);
}

describe("the rules of a page", () => {
  it("are items that begin with a bold id, over several lines", () => {
    const { rules, problems } = collect(
      "# Page (Q)",
      "",
      "- **Q1** One",
      "  goes on.",
      "- **Q2** Two.",
    );
    assertEquals([...rules].map(([id, { text }]) => [id, text]), [
      ["Q1", "One goes on."],
      ["Q2", "Two."],
    ]);
    assertEquals(problems, []);
  });

  for (
    const [excuse, line] of [
      ["Issue 7", "- **Q1** One. _Issue 7: needs two._"],
      ["No test", "- **Q1** One. _No test: it would take a day._"],
      ["Withdrawn", "- **Q1** One. _Withdrawn: see Q2._"],
      [undefined, "- **Q1** One, _really_."],
    ] as const
  ) {
    it(`say at their end why no test names them: ${excuse}`, () => {
      assertEquals(collect(line).rules.get("Q1")?.excuse, excuse);
    });
  }

  it("of a page of facts are facts", () => {
    const pages = [{ path: "docs/specification/facts-a.md", text: "- **P1** One." }];
    assertEquals(collectRules(pages).rules.get("P1")?.fact, true);
  });

  for (
    const [problem, ...lines] of [
      ["page.md:2: Q1 occurs twice", "- **Q1** One.", "- **Q1** Two."],
      ["page.md: Q2 is missing", "- **Q1** One.", "- **Q3** Three."],
      ['page.md:1: expected an entry such as "- **Q12** …"', "**Q1** One."],
      ['page.md:1: expected an entry such as "- **Q12** …"', "- **Q 1** One."],
      ['page.md:1: expected an entry such as "- **Q12** …"', "* **Q1:** One."],
    ]
  ) {
    it(`are distinguished from a mistake: ${problem}, ${lines.join(" ")}`, () => {
      assertEquals(collect(...lines).problems, [problem!]);
    });
  }

  it("share their letters with no other page", () => {
    const pages = [{ path: "a.md", text: "- **Q1** One." }, {
      path: "b.md",
      text: "- **Q2** Two.",
    }];
    assertEquals(collectRules(pages).problems, ["b.md: Q2, but Q belongs to a.md"]);
  });
});

describe("the citations of a source file", () => {
  it("are what stands behind each mark, separated by commas", () => {
    const text =
      "/** One. @see Q1 */\n/**\n * Two.\n * @see Q2, docs/a.md\n * @see Q3 @see Q4\n */";
    assertEquals(listCitations(text), [
      { cited: "Q1", line: 1 },
      { cited: "Q2", line: 4 },
      { cited: "docs/a.md", line: 4 },
      { cited: "Q3", line: 5 },
      { cited: "Q4", line: 5 },
    ]);
  });

  it("are none in strings", () => {
    assertEquals(listCitations('print("@see Q1", `@see ${"Q2"}`);'), []);
  });
});
