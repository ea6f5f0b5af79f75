import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { EXCEPTED_TITLES, isExcepted } from "../../scripts/compare_responses.ts";

const TESTS = fileURLToPath(new URL("..", import.meta.url));
const OWN_NAME = "compare_responses.test.ts";

describe("the comparison of responses of two kinds of access", () => {
  it("excepts only tests that exist", async () => {
    const files = (await readdir(TESTS, { recursive: true })).filter((path) =>
      path.endsWith(".test.ts") && !path.includes("node_modules") && !path.endsWith(OWN_NAME)
    );
    const sources = await Promise.all(files.map((path) => readFile(join(TESTS, path), "utf8")));
    const missing = EXCEPTED_TITLES.filter((title) =>
      !sources.some((source) => source.includes(title))
    );
    assertEquals(missing, []);
  });

  it("takes a group by its beginning and a test by a part of its title", () => {
    for (const test of ["Updates, concurrency, real > a", "Names, real > cuts no name: 63 b"]) {
      assert(isExcepted(test), test);
    }
    for (const test of ["Updates, keys, real > a", "On Updates, concurrency > a"]) {
      assert(!isExcepted(test), test);
    }
  });
});
