import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { COMMANDS, inherit } from "../support/runtime_server.ts";

/** No database is there: the service serves, and is not ready. */
const UNAVAILABLE = { DATABASE_URL: "postgres://app@127.0.0.1:1/shop", PORT: "0" };
/** Has V8 walk its heap dozens of times, and then says so; what it does not run grows old. */
const AGE = `process.on("SIGUSR2", async () => {
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
      stdio: ["ignore", "pipe", "inherit"],
    });
    const ended = once(child, "exit");
    child.stdout.setEncoding("utf8");
    const readTo = async (end: string) => {
      let read = "";
      while (!read.includes(end)) read += (await once(child.stdout, "data"))[0];
      return read;
    };
    await readTo('"listening"');
    child.kill("SIGUSR2");
    const traced = (await readTo("aged")).split("\n").filter((line) => line.startsWith("[discard"));
    child.kill("SIGTERM");
    await ended;
    assertEquals(traced, []);
  });
});
