import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function run(script: string, flag: string) {
  const parameters = ["run", "-A", "--no-check", `scripts/bench/${script}.ts`, flag];
  return spawnSync(process.execPath, parameters, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1" },
    encoding: "utf8",
  });
}

describe("the command line of a benchmark", () => {
  for (const [script, known] of [["bench", "[--rounds=5]"], ["burst", "[--quiet=120]"]] as const) {
    it(`is shown on --help: ${script}`, () => {
      const { status, stdout } = run(script, "--help");
      assertStringIncludes(stdout, known);
      assertEquals(status, 0);
    });

    it(`is shown with the reason for a flag that is not known: ${script}`, () => {
      const { status, stderr } = run(script, "--quite=3");
      assertStringIncludes(stderr, "Unknown option '--quite'");
      assertStringIncludes(stderr, known);
      assertEquals(status, 2);
    });
  }
});
