import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { CONSOLE_PATHS, readConsoleFile } from "../../../src/console/files/console_files.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const MODULE = new URL("../../../src/console/files/console_files.ts", import.meta.url).href;

describe("the files of the console", () => {
  it("are all built by the first call, once", async () => {
    const kinds: string[] = [];
    const files = await Promise.all(
      CONSOLE_PATHS.map((path) => readConsoleFile(path, ({ kind }) => kinds.push(kind))),
    );
    assertEquals(kinds, ["console_built"]);
    for (const { type, etag, gzip } of files) {
      assertMatch(type, /^(text|image)\//);
      assertMatch(etag, /^W\/"[0-9a-f]{32}"$/);
      assertEquals([gzip[0], gzip[1]], [0x1f, 0x8b]);
    }
    // docs/decisions/0042-openapi-client-console.md
    const size = files.reduce((sum, { gzip }) => sum + gzip.length, 0);
    assert(size < 50_000, `${size} bytes, compressed`);
  });

  it("are 503 with a reason in the log where esbuild cannot be run, and nothing else ends", () => {
    const script = `import { readConsoleFile } from ${JSON.stringify(MODULE)};
for (const attempt of [1, 2]) {
  await readConsoleFile("/", ({ kind, message }) => console.log(attempt, kind, message))
    .catch(({ status }) => console.log(attempt, status));
}
setTimeout(() => console.log("still here"), 200);`;
    const parameters = ["run", "--no-prompt", "--no-check", "--allow-read", "--allow-env", "-"];
    const { stdout } = spawnSync(process.execPath, parameters, { cwd: ROOT, input: script });
    const [first, second, third, fourth, last] = stdout.toString().trim().split("\n");
    for (const line of [first, third]) {
      assertMatch(line!, /^\d warning the console could not be built, it must read src\/console/);
    }
    assertEquals([second, fourth, last], ["1 503", "2 503", "still here"]);
  });
});
