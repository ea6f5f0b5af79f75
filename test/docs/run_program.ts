import { spawn } from "node:child_process";
import process from "node:process";

/**
 * Runs a program of a document in a folder, with the token of the documents. Returns what it prints, both
 * streams; undefined where it is not installed.
 */
export function runProgram(
  command: string,
  parameters: readonly string[],
  cwd: string,
): Promise<string | undefined> {
  const child = spawn(command, parameters, {
    cwd,
    env: { ...process.env, TOKEN: "TOKEN", ROWGATE_TOKEN: "TOKEN", NO_COLOR: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk) => output += chunk);
  child.stderr.on("data", (chunk) => output += chunk);
  return new Promise((resolve) => {
    child.once("error", () => resolve(undefined));
    child.once("close", () => resolve(output));
  });
}
