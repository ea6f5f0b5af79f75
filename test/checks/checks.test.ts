import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { runDeno } from "../support/run_deno.ts";

const CHECKS = [
  ["modules import only what ARCHITECTURE.md and docs/layers.md allow", "check_layers"],
  ["files, exports, links and decisions follow CONTRIBUTING.md", "check_docs"],
  ["every rule of docs/specification has a test", "check_rules"],
] as const;

/** Runs a check; returns what it printed when it failed. */
async function runCheck(name: string): Promise<string> {
  const { code, output } = await runDeno(["run", "-A", "--no-check", `scripts/${name}.ts`]);
  return code === 0 ? "" : output;
}

describe("the repository", () => {
  for (const [title, name] of CHECKS) {
    it(title, async () => assertEquals(await runCheck(name), ""));
  }
});
