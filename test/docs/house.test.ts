import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("the house", () => {
  for (
    const [promise, script] of [
      ["imports as ARCHITECTURE.md allows", "check_layers.ts"],
      ["documents every export and keeps its files small", "check_docs.ts"],
      ["has a test for every rule", "check_rules.ts"],
    ] as const
  ) {
    it(promise, async () => {
      const child = spawn(process.execPath, ["run", "-A", `scripts/${script}`], { cwd: ROOT });
      let told = "";
      child.stderr.on("data", (chunk) => told += chunk);
      child.stdout.resume();
      const code = await new Promise((resolve) => child.once("close", resolve));
      assertEquals(code, 0, told);
    });
  }
});
