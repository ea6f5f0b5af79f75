import { assert } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("the micro-benchmarks", () => {
  it("start, and the service that they measure answers with 200", () => {
    // Each file is run up to its first benchmark; no benchmark has a name that is empty.
    const parameters = ["bench", "-A", "--no-check", "--filter=/^$/", "scripts/bench/micro/"];
    const { status, stdout, stderr } = spawnSync(process.execPath, parameters, {
      cwd: ROOT,
      env: { ...process.env, NO_COLOR: "1" },
      encoding: "utf8",
    });
    assert(status === 0, stdout + stderr);
  });
});
