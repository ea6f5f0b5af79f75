import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { whenTestEnds } from "../support/current_test.ts";
import { COMMANDS, inherit, type Runtime } from "../support/runtime_server.ts";

/** A signal that a process of the tests is sent. */
export type Signal = "SIGTERM" | "SIGINT" | "SIGKILL" | "SIGSTOP";

/** A process and what it has said so far. */
export interface RunningProcess {
  readonly pid: number;
  /** One that is gone already gets none. */
  readonly send: (signal: Signal) => void;
  /** Standard output and standard error, as they came. */
  readonly output: () => { readonly stdout: string; readonly stderr: string };
  /** Its exit code. */
  readonly ended: Promise<number | null>;
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Starts the command on a runtime. */
export function startCommand(
  runtime: Runtime,
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): RunningProcess {
  const [command = "", ...before] = COMMANDS[runtime];
  // What `scripts/run_tests.ts` tells Deno and Bun in their environment.
  const own = runtime === "node" ? ["--liftoff-only"] : [];
  return startProcess(command, [...own, ...before, ...parameters], environment);
}

/**
 * Starts a program in the root folder of the project, with the settings given and no others of ours.
 * One that a test has started ends with that test at the latest, however that ends.
 */
export function startProcess(
  command: string,
  parameters: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): RunningProcess {
  const child = spawn(command, [...parameters], {
    cwd: ROOT,
    env: { ...inherit(), ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => stdout += chunk);
  child.stderr.on("data", (chunk) => stderr += chunk);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  let gone = false;
  child.once("exit", () => gone = true);
  // `child.kill` of Deno hides the exit code.
  const send = (signal: Signal) => void (gone || process.kill(child.pid!, signal));
  whenTestEnds(() => send("SIGKILL"));
  return { pid: child.pid!, send, output: () => ({ stdout, stderr }), ended };
}

/** Waits until the process has said what the pattern looks for, on standard error. */
export function awaitText(running: RunningProcess, pattern: RegExp): Promise<string> {
  return awaitOutput(running, pattern, "stderr");
}

/** Waits until the server says that it listens, and returns its address. */
export async function awaitAddress(running: RunningProcess): Promise<string> {
  const line = await awaitOutput(running, /"listening","address":"[^"]+"/, "stdout");
  return /http:[^"]+/.exec(line)![0];
}

/** Waits until one of the streams holds what the pattern looks for. */
export async function awaitOutput(
  running: RunningProcess,
  pattern: RegExp,
  stream: "stdout" | "stderr",
): Promise<string> {
  const ended = running.ended.then(() => "ended" as const);
  while (true) {
    const { stdout, stderr } = running.output();
    const found = pattern.exec(running.output()[stream]);
    if (found !== null) return found[0];
    const reported = await Promise.race([ended, new Promise((resolve) => setTimeout(resolve, 50))]);
    if (reported === "ended") throw new Error(`it ended without ${pattern}: ${stdout}${stderr}`);
  }
}
