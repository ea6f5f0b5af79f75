// docs/security.md names every dependency with its version, and code and tests for every promise.
import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import manifest from "../../package.json" with { type: "json" };
import tests from "../packages/package.json" with { type: "json" };
import { readRules } from "../../scripts/checks/rules.ts";
import { readDocument } from "./blocks.ts";

const { rules } = await readRules();
const page = await readDocument("docs/security.md");
const DEPENDENCIES = {
  dependencies: manifest.dependencies,
  development: manifest.devDependencies,
  tests: tests.devDependencies,
};

/** The text after a mark such as `<!-- tests -->`, up to the next heading. */
function readAfter(mark: string): string {
  const start = page.indexOf(`<!-- ${mark} -->`);
  assert(start >= 0, mark);
  return page.slice(start).split(/^## /m, 1)[0]!;
}

/** The cells of the first table after a mark, without its head. */
function readRows(mark: string): string[][] {
  const [, table = ""] = readAfter(mark).split("\n\n");
  return table.split("\n").slice(2).map((row) =>
    row.split("|").slice(1, -1).map((cell) => cell.trim())
  );
}

describe("docs/security.md", () => {
  for (const [mark, packages] of Object.entries(DEPENDENCIES)) {
    it(`names each package with its version: ${mark}`, () => {
      const named = readRows(mark).map(([name, version]) => [name, version]);
      assertEquals(named, Object.entries(packages));
    });

    it(`names packages that are pinned to one version: ${mark}`, () => {
      for (const [name, version] of readRows(mark)) {
        assert(/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version ?? ""), `${name} ${version}`);
      }
    });
  }

  it("names code and tests for each promise", () => {
    const [, ...promises] = readAfter("promises").split(/^- /m);
    assert(promises.length > 10);
    for (const promise of promises) {
      const text = promise.replaceAll(/\s+/g, " ");
      const [, code = "", proof = ""] = /^\*\*.+?\*\* .*Code: (.+) Tests: (.+)$/.exec(text) ?? [];
      assert(/\]\(\.\.\/src\/[\w/.]+\)/.test(code), promise);
      // check:docs fails if one of the files does not exist.
      assert(/\]\(\.\.\/test\/[\w/]+\.test\.ts\)/.test(proof), promise);
    }
  });

  it("names every section of the catalogue of attacks", () => {
    for (const [id, { page: path }] of rules) {
      if (!path.endsWith("/attacks-and-faults.md")) continue;
      const [section] = /^[A-Z]+/.exec(id)!;
      assert(page.includes(`${section}1–${section}`), id);
    }
  });
});
