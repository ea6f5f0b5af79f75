import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

const CHECKS = [
  ["modules import only what ARCHITECTURE.md and docs/layers.md allow", "check_layers"],
  ["files, exports, links and decisions follow CONTRIBUTING.md", "check_docs"],
  ["every rule of docs/specification has a test", "check_rules"],
] as const;

/** Runs a check; returns what it printed when it failed. */
async function runCheck(name: string): Promise<string> {
  const parameters = ["run", "-A", "--no-check", `scripts/${name}.ts`];
  const child = spawn(process.execPath, parameters, {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  child.stderr.on("data", (chunk) => output += chunk);
  const code = await new Promise((resolve) => child.once("close", resolve));
  return code === 0 ? "" : output;
}

describe("the repository", () => {
  for (const [title, name] of CHECKS) {
    it(title, async () => assertEquals(await runCheck(name), ""));
  }
});
