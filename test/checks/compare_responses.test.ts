import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compareResponses, EXCEPTED_TITLES, isExcepted } from "../../scripts/compare_responses.ts";

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
    for (
      const test of ["Updates, concurrency, real > a", "Names, real > never truncates a name: 63 b"]
    ) {
      assert(isExcepted(test), test);
    }
    for (const test of ["Updates, keys, real > a", "On Updates, concurrency > a"]) {
      assert(!isExcepted(test), test);
    }
  });

  it("finds what differs, and no difference in what is random", async () => {
    const page = (letter: string) =>
      `{"next":"AQAAAA${letter.repeat(60)}","id":"wh_${letter.repeat(16)}"}`;
    const plain = [page("a"), page("a"), '{"n":1}', '{"n":1}'];
    const other = [page("b"), `{"next":"AQAAAA"}`, '{"n":2}', '{"n":1}'];
    const folder = await mkdtemp(join(tmpdir(), "rowgate-compare-"));
    try {
      const [first, second] = await Promise.all(
        [plain, other].map((bodies, at) => record(join(folder, String(at)), bodies)),
      );
      const { compared, differences } = await compareResponses(first!, second!);
      assertEquals(compared, 4);
      assertEquals(differences.map((text) => text.slice(0, text.indexOf(":"))), [
        "a group > a test #1.2",
        "a group > a test #1.3",
      ]);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});

/** Writes the responses of one test, the last of them of a second service. */
async function record(folder: string, bodies: readonly string[]): Promise<string> {
  await mkdir(folder);
  const lines = bodies.map((body, at) => {
    const [service, number] = at === bodies.length - 1 ? [2, 1] : [1, at + 1];
    const request = `GET http://127.0.0.1/${at}`;
    return JSON.stringify({
      ...{ test: "a group > a test", service, number, request, status: 200, headers: {}, body },
    });
  });
  await writeFile(join(folder, "responses.jsonl"), lines.join("\n"));
  return folder;
}
