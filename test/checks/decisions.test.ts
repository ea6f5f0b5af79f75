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
  it("have the sections of the template, measurements last", () => {
    assertEquals(check({}), []);
    assertEquals(check({ sections: "Context Decision Consequences Measurements" }), []);
    assertEquals(check({ sections: "Context Decision" }).length, 1);
    assertEquals(check({ sections: "Context Measurements Decision Consequences" }).length, 1);
  });

  it("are numbered without gaps, in the name and in the title", () => {
    assertEquals(check({ name: "0002-poolers.md", title: "0002 Poolers" }), [
      "docs/decisions/0002-poolers.md: expected the number 0001",
    ]);
    assertEquals(check({ title: "Poolers" }).length, 2);
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
