import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listFiles } from "../../scripts/list_files.ts";
import { groupTestFiles, listTestFiles } from "../../scripts/list_test_files.ts";

describe("the files that the test command runs", () => {
  it("are those of the paths, each once", async () => {
    const all = await listFiles(["test"], ".test.ts");
    assertEquals((await listTestFiles(["test"])).toSorted(), all);
    assertEquals((await listTestFiles(["test", "test/unit", all[0]!])).toSorted(), all);
    assertEquals(await listTestFiles([all[0]!]), [all[0]]);
    const updates = all.filter((file) => file.startsWith("test/conformance/updates"));
    assertEquals((await listTestFiles(["test/conformance/updates"])).toSorted(), updates);
    assertEquals(await listTestFiles(["test/no_such.test.ts"]), ["test/no_such.test.ts"]);
  });

  it("are all in groups, each once", async () => {
    const files = await listFiles(["test/conformance"], ".test.ts");
    const folder = await mkdtemp(join(tmpdir(), "rowgate-groups-"));
    try {
      const texts = await Promise.all(
        (await groupTestFiles(files, folder)).map((path) => readFile(path, "utf8")),
      );
      const imported = [...texts.join("").matchAll(/\/(test\/conformance\/[^"]+)"/g)];
      assertEquals(imported.map(([, file]) => file!).toSorted(), files);
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
