import { assert } from "@std/assert";
import { spawn } from "node:child_process";
import process from "node:process";

/**
 * Runs a program of a document in a folder, with the token of the documents. Returns what it prints, both
 * streams; undefined where it is not installed, which is an error on CI.
 */
export async function runProgram(
  command: string,
  parameters: readonly string[],
  cwd: string,
): Promise<string | undefined> {
  const child = spawn(command, parameters, {
    cwd,
    env: { ...process.env, ROWGATE_TOKEN: "TOKEN", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  child.stderr.on("data", (chunk) => output += chunk);
  const printed = await new Promise<string | undefined>((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", () => resolve(output));
  });
  if (printed !== undefined) return printed;
  assert(process.env.CI === undefined, `${command} is not installed`);
  console.log(`${command} is not installed: its program is not run`);
  return undefined;
}
