import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runDeno } from "../support/run_deno.ts";

const run = (script: string, flag: string) =>
  runDeno(["run", "-A", "--no-check", `scripts/bench/${script}.ts`, flag]);

describe("the command line of a benchmark", () => {
  for (const [script, known] of [["bench", "[--rounds=5]"], ["growth", "[--full]"]] as const) {
    it(`is shown on --help: ${script}`, async () => {
      const { code, stdout } = await run(script, "--help");
      assertStringIncludes(stdout, known);
      assertEquals(code, 0);
    });

    it(`is shown with the reason for a flag that is not known: ${script}`, async () => {
      const { code, stderr } = await run(script, "--quite=3");
      assertStringIncludes(stderr, "Unknown option '--quite'");
      assertStringIncludes(stderr, known);
      assertEquals(code, 2);
    });
  }
});
