import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { findProblems } from "../../scripts/checks/decisions.ts";

/** A page with these sections, and the index that lists it. */
function check(
  { name = "0001-poolers.md", title = "0001 Poolers", sections = "Context Decision Consequences" },
): readonly string[] {
  const body = sections.split(" ").map((section) => `\n## ${section}\n\nText.\n`).join("");
  const text = `# ${title}\n${body}`;
  return findProblems(
    [{ path: `docs/decisions/${name}`, text }],
    `- [${title}](${name}): one line\n`,
  );
}

describe("the pages of docs/decisions", () => {
  it("have the sections of the template and no others", () => {
    assertEquals(check({}), []);
    assertEquals(check({ sections: "Context Decision Consequences Measurements" }).length, 1);
    assertEquals(check({ sections: "Context Decision" }).length, 1);
    assertEquals(check({ sections: "Context Measurements Decision Consequences" }).length, 1);
  });

  it("begin with the number in their name", () => {
    assertEquals(check({ name: "0007-poolers.md", title: "0007 Poolers" }), []);
    assertEquals(check({ title: "Poolers" }).length, 2);
  });

  it("have numbers of their own", () => {
    const text = "# 0001 Poolers\n## Context\n## Decision\n## Consequences\n";
    const names = ["0001-a.md", "0001-b.md"];
    assertEquals(
      findProblems(
        names.map((name) => ({ path: `docs/decisions/${name}`, text })),
        names.map((name) => `- [0001 Poolers](${name}): one line\n`).join(""),
      ),
      ["docs/decisions/0001-b.md: another page has the number 0001"],
    );
  });

  it("are 30 at most", () => {
    const numbers = Array.from({ length: 31 }, (_, place) => String(place + 1).padStart(4, "0"));
    const pages = numbers.map((number) => ({
      path: `docs/decisions/${number}-poolers.md`,
      text: `# ${number} Poolers\n## Context\n## Decision\n## Consequences\n`,
    }));
    const index = numbers.map((number) =>
      `- [${number} Poolers](${number}-poolers.md): one line\n`
    );
    assertEquals(findProblems(pages.slice(1), index.slice(1).join("")), []);
    assertEquals(findProblems(pages, index.join("")), [
      "docs/decisions: 31 pages, 30 at most: merge them by subject",
    ]);
  });

  it("have at most 60 lines", () => {
    const path = "docs/decisions/0001-poolers.md";
    const text = `# 0001 Poolers\n## Context\n## Decision\n## Consequences\n${
      "Text.\n".repeat(57)
    }`;
    assertEquals(findProblems([{ path, text }], "- [0001 Poolers](0001-poolers.md): one line"), [
      `${path}: 61 lines, 60 at most`,
    ]);
  });

  it("are listed by the index, all of them and no others", () => {
    const path = "docs/decisions/0001-poolers.md";
    const text = "# 0001 Poolers\n## Context\n## Decision\n## Consequences\n";
    assertEquals(findProblems([{ path, text }], "").length, 1);
    assertEquals(findProblems([], "- [0001 Poolers](0001-poolers.md): one line").length, 1);
  });
});
