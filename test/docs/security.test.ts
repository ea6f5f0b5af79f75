import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import manifest from "../../package.json" with { type: "json" };
import tests from "../packages/package.json" with { type: "json" };
import { readRules } from "../../scripts/read_rules.ts";

const { rules } = await readRules();
const page = await readFile(
  fileURLToPath(new URL("../../docs/security.md", import.meta.url)),
  "utf8",
);

/** The cells of the table behind a mark, without its head. */
function rowsBehind(mark: string): string[][] {
  const start = page.indexOf(`<!-- ${mark} -->`);
  assert(start >= 0, mark);
  const [, table = ""] = page.slice(start).split("\n\n");
  return table.split("\n").slice(2).map((row) =>
    row.split("|").slice(1, -1).map((cell) => cell.trim())
  );
}

describe("docs/security.md", () => {
  it("names each dependency with its version", () => {
    const told = rowsBehind("dependencies").map(([name, version]) => [name, version]);
    const pinned = [manifest.dependencies, manifest.devDependencies, tests.devDependencies];
    assertEquals(told, pinned.flatMap((group) => Object.entries(group)));
  });

  it("names dependencies that are pinned to one version", () => {
    for (const [name, version] of rowsBehind("dependencies")) {
      assert(/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? ""), `${name} ${version}`);
    }
  });

  it("names code and tests for each promise", () => {
    const promises = rowsBehind("promises");
    assert(promises.length > 10);
    for (const [promise, code = "", proof = ""] of promises) {
      assert(/\]\(\.\.\/src\/[\w/.]+\)/.test(code), promise);
      // That the files are there is what check:docs looks at.
      assert(/\]\(\.\.\/test\/[\w/]+\.test\.ts\)/.test(proof), promise);
    }
  });

  it("names every section of the catalogue", () => {
    for (const [id, { page: path }] of rules) {
      if (!path.endsWith("/attacks-and-faults.md")) continue;
      const [section] = /^[A-Z]+/.exec(id)!;
      assert(page.includes(`${section}1–${section}`), id);
    }
  });
});
