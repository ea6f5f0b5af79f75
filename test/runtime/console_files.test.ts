import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("the files of the console", () => {
  it("are what src/console and the library make", async () => {
    const child = spawn("node", ["scripts/build_console.js", "--check"], {
      cwd: ROOT,
      stdio: ["ignore", "ignore", "pipe"],
    });
    let told = "";
    child.stderr.on("data", (chunk) => told += chunk);
    const code = await new Promise((resolve) => child.once("close", resolve));
    assertEquals([code, told], [0, ""]);
  });
});
