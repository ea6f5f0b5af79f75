import { assert, assertEquals, assertRejects } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { groupTestFiles, type TestGroup, writeGroups } from "../../scripts/group_test_files.ts";
import { listFiles } from "../../scripts/list_files.ts";
import { isLong, listTestFiles, UsageError } from "../../scripts/list_test_files.ts";

describe("the files that the test command runs", () => {
  it("are those of the paths, each once", async () => {
    const all = await listFiles(["test"], ".test.ts");
    assertEquals((await listTestFiles(["test"])).toSorted(), all);
    assertEquals((await listTestFiles(["test", "test/unit", all[0]!])).toSorted(), all);
    assertEquals(await listTestFiles([all[0]!]), [all[0]]);
    const updates = all.filter((file) => file.startsWith("test/conformance/updates"));
    assertEquals((await listTestFiles(["test/conformance/updates"])).toSorted(), updates);
    for (const path of ["test/no_such.test.ts", "test/no_such", "test/unit/no_such"]) {
      await assertRejects(() => listTestFiles([path]), UsageError, path);
    }
  });
});

describe("the groups of test files", () => {
  const list = (groups: readonly TestGroup[]) => groups.flatMap(({ files }) => files).toSorted();

  it("contain each file once, and those of the conformance tests once more for each runtime", async () => {
    const files = await listTestFiles(["test"]);
    assertEquals(list(await groupTestFiles(files)), files.toSorted());
    const groups = await groupTestFiles(files, ["node", "binary"]);
    assertEquals(list(groups.filter(({ runtime }) => runtime === undefined)), files.toSorted());
    const conformance = files.filter((file) => file.startsWith("test/conformance/")).toSorted();
    for (const served of ["node", "binary"]) {
      assertEquals(list(groups.filter(({ runtime }) => runtime === served)), conformance);
    }
  });

  it("need the programs of all of their files, and have at most three long ones, apart from others", async () => {
    const groups = await groupTestFiles(await listTestFiles(["test"]), ["node"]);
    assertEquals(groups[0]!.programs, []);
    for (const { files, programs, runtime } of groups) {
      const of = (folder: string) => files.some((file) => file.startsWith(folder));
      const expected = [
        ...of("test/ship/") || of("test/runtime/") ? ["binary"] : [],
        ...of("test/ship/") || of("test/runtime/") || runtime === "node" ? ["bundle"] : [],
      ];
      assertEquals(programs.filter((name) => /^b/.test(name)), expected, files.join());
      if (of("test/conformance/") || !files.some(isLong)) continue;
      assert(files.length <= 3 && files.every(isLong), files.join());
    }
  });

  it("are written as files that import the others, where that is needed", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rowgate-groups-"));
    try {
      const both = ["test/unit/a.test.ts", "test/unit/b.test.ts"];
      const [one, two, three] = await writeGroups([
        { files: ["test/unit/a.test.ts"], programs: [] },
        { files: both, programs: [] },
        { files: ["test/unit/a.test.ts"], programs: ["bundle"], runtime: "node" },
      ], folder);
      assertEquals(one, "test/unit/a.test.ts");
      const text = await readFile(two!, "utf8");
      assertEquals(
        [...text.matchAll(/await import\(".*\/(test\/unit\/.*)"\)/g)].map(([, file]) => file),
        both,
      );
      assertEquals(three, join(folder, "node_3.test.ts"));
      assert((await readFile(three!, "utf8")).includes('{"programs":["bundle"],"runtime":"node"}'));
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
