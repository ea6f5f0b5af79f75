import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { promisify } from "node:util";
import { listNodeFlags } from "../../src/server/runtime/v8_flags.ts";
import { COMMANDS, inherit } from "../support/runtime_server.ts";

/** No database is there: the service serves, and is not ready. */
const UNAVAILABLE = { DATABASE_URL: "postgres://app@127.0.0.1:1/shop", PORT: "0" };
/** Has V8 walk its heap dozens of times, and then says so; what it does not run grows old. */
const AGE = `process.stdin.once("data", async () => {
  for (let walk = 0; walk < 40; walk++) {
    for (let part = 0; part < 40; part++) new ArrayBuffer(4_000_000);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  process.stdout.write("aged\\n");
});`;

describe("V8 on Node", () => {
  it("keeps the code that has not run for a while", async () => {
    const [command = "", ...words] = COMMANDS.node;
    const preload = `--import=data:text/javascript,${encodeURIComponent(AGE)}`;
    const child = spawn(command, ["--trace-flush-bytecode", preload, ...words, "serve"], {
      env: { ...inherit(), ...UNAVAILABLE },
      stdio: ["pipe", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    let discarded: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith("[discard")) discarded.push(line);
      if (line.includes('"listening"')) {
        discarded = [];
        child.stdin.end("grow old");
      }
      if (line === "aged") child.kill("SIGTERM");
    }
    await ended;
    assertEquals(discarded, []);
  });

  it("knows the flags that the service sets", async () => {
    const run = promisify(execFile);
    const [command = ""] = COMMANDS.node;
    const { stdout: version } = await run(command, ["-p", "process.versions.v8"]);
    // Node ends with an error if it does not know a flag of its command line.
    const { stdout } = await run(command, [...listNodeFlags(version), "-p", "'started'"]);
    assertEquals(stdout, "started\n");
  });
});
