import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";
import { COMMANDS, inherit } from "../support/runtime_server.ts";
import { awaitAddress, startCommand } from "./run_process.ts";

const HEAP = "BUN_JSC_minEdenToOldGenerationRatio";
const CODE = "BUN_JSC_forceCodeBlockLiveness";
const OPTIMISE = "BUN_JSC_thresholdForFTLOptimizeAfterWarmUp";
/** No database is there: the service serves, and is not ready. */
const UNAVAILABLE = { DATABASE_URL: "postgres://app@127.0.0.1:1/shop", PORT: "0" };

/** What a process was begun with: the words of its command without folders, and the variables. */
async function look(pid: number) {
  const [words, environment] = await Promise.all(
    ["cmdline", "environ"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8")),
  );
  const variables = environment!.split("\0").filter((line) =>
    [HEAP, CODE, OPTIMISE].includes(line.split("=", 1)[0]!)
  ).toSorted();
  return { words: words!.split("\0").slice(0, -1).map((word) => basename(word)), variables };
}

describe("JavaScriptCore on Bun", () => {
  for (const runtime of ["bun", "binary"] as const) {
    it(`gets its variables on ${runtime} by a re-exec of the process`, async () => {
      const server = startCommand(runtime, ["serve"], UNAVAILABLE);
      const address = await awaitAddress(server);
      assertEquals((await fetch(`${address}/livez`)).status, 200);
      const words = [...COMMANDS[runtime], "serve"].map((word) => basename(word));
      const variables = [`${CODE}=1`, `${HEAP}=0.6`, `${OPTIMISE}=10000`];
      assertEquals(await look(server.pid), { words, variables });
      server.send("SIGTERM");
      assertEquals(await server.ended, 0);
      assertEquals(server.output().stderr, "");
    });
  }

  it("is what the environment says, where it says something", async () => {
    const server = startCommand("bun", ["serve"], { ...UNAVAILABLE, [HEAP]: "0.2" });
    await awaitAddress(server);
    const { variables } = await look(server.pid);
    assertEquals(variables, [`${CODE}=1`, `${HEAP}=0.2`, `${OPTIMISE}=10000`]);
    server.send("SIGTERM");
    assertEquals(await server.ended, 0);
  });

  it("keeps its defaults where a re-exec would cut a channel to the parent process", async () => {
    const [command = "", ...words] = COMMANDS.bun;
    const child = spawn(command, [...words, "serve"], {
      env: { ...inherit(), ...UNAVAILABLE },
      stdio: ["ignore", "pipe", "pipe", "ipc"],
    });
    const ended = once(child, "exit");
    child.stdout!.setEncoding("utf8");
    for (let said = ""; !said.includes('"listening"');) {
      said += (await once(child.stdout!, "data"))[0];
    }
    assertEquals([(await look(child.pid!)).variables, child.connected], [[], true]);
    child.kill("SIGTERM");
    await ended;
  });
});
