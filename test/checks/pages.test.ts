import { assertEquals } from "@std/assert";
import { after, before, describe, it } from "@std/testing/bdd";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anchorsOf, findBrokenLinks, findWideTables } from "../../scripts/checks/pages.ts";

describe("a page", () => {
  let folder = "";
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "rowgate-pages-"));
  });
  after(() => rm(folder, { recursive: true }));

  /** Writes a page; returns its path. */
  async function write(text: string): Promise<string> {
    const path = join(folder, "page.md");
    await writeFile(path, text);
    return path;
  }

  it("has no link to a missing file or heading, and none is looked for in code", async () => {
    const page = await write("# Top\n\n[a](#top) [b](#bottom) [c](missing.md) `[d](missing.md)`\n");
    assertEquals(await findBrokenLinks(page), [
      `${page}:3: #bottom leads to no heading`,
      `${page}:3: missing.md leads nowhere`,
    ]);
  });

  it("names no missing file of the repository in backticks", async () => {
    const page = await write("`src/main.ts`, `src/missing.ts`\n");
    assertEquals(await findBrokenLinks(page), [`${page}:1: there is no src/missing.ts`]);
  });

  it("has no table wider than 100 characters", async () => {
    const page = await write(`| a |\n| - |\n\n| ${"é".repeat(97)} |\n| - |\n`);
    assertEquals(await findWideTables(page), [`${page}:4: a table of 101 characters, 100 at most`]);
  });

  it("has headings that links name as GitHub does", () => {
    assertEquals([...anchorsOf("# One, two\n## `rowgate` & more\n")], ["one-two", "rowgate--more"]);
  });
});
