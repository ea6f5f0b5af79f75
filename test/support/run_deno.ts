import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** How a run of Deno ended, and what it printed. */
export interface DenoRun {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, in the order in which they came. */
  readonly output: string;
}

/** Runs Deno in the folder of the project, without colours and with a text on its standard input. */
export async function runDeno(parameters: readonly string[], input = ""): Promise<DenoRun> {
  const child = spawn(process.execPath, [...parameters], {
    cwd: ROOT,
    env: { ...process.env, NO_COLOR: "1" },
  });
  const printed = { stdout: "", stderr: "", output: "" };
  for (const name of ["stdout", "stderr"] as const) {
    child[name].on("data", (chunk) => {
      printed[name] += chunk;
      printed.output += chunk;
    });
  }
  child.stdin.end(input);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  return { code, ...printed };
}
