import { spawn } from "node:child_process";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { runCommand } from "../../../src/cli/command.ts";
import { type Output, readText } from "../../../src/server/runtime/host.ts";
import { COMMANDS, inherit } from "../../support/runtime_server.ts";

/** A command in a process of its own. */
export interface Running {
  /** Sends a signal. */
  readonly send: (signal: "SIGTERM" | "SIGINT") => void;
  /** What was written so far. */
  readonly output: { out: string; err: string };
  /** Settles with the exit code. */
  readonly ended: Promise<number | null>;
  /** Settles once the text is there; rejects when the process ends without it. */
  readonly see: (stream: "out" | "err", pattern: RegExp) => Promise<RegExpExecArray>;
}

/** The folder of the repository. */
export const ROOT: string = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts `rowgate` with these arguments and no variable of ours but those given. */
export function startRowgate(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Running {
  const [command = "", ...words] = COMMANDS.deno;
  const child = spawn(command, [...words, ...args], {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...inherit(), NO_COLOR: "1", ...environment },
  });
  const output = { out: "", err: "" };
  let over = false;
  child.stdout!.on("data", (chunk) => output.out += chunk);
  child.stderr!.on("data", (chunk) => output.err += chunk);
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", (code) => {
      over = true;
      resolve(code);
    });
  });
  async function see(stream: "out" | "err", pattern: RegExp): Promise<RegExpExecArray> {
    while (true) {
      const found = pattern.exec(output[stream]);
      if (found !== null) return found;
      if (over) throw new Error(`ended without ${pattern}: ${output.out}${output.err}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  // Deno's own `child.kill` hides the exit code.
  const send = (signal: "SIGTERM" | "SIGINT") => void process.kill(child.pid!, signal);
  return { send, output, ended, see };
}

/** Commands that write past their host, or that a signal ends. */
const OF_A_PROCESS = new Set(["serve", "export", "handout"]);

/**
 * Runs `rowgate` to its end: in this process where that is the same, since to start another takes far
 * longer than most commands. Processes of each runtime run several of them in test/runtime.
 */
export async function runRowgate(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number | null; readonly out: string; readonly err: string }> {
  if (OF_A_PROCESS.has(args[0] ?? "")) {
    const { output, ended } = startRowgate(args, environment);
    const code = await ended;
    return { code, ...output };
  }
  const output = { out: "", err: "" };
  const open = (stream: "out" | "err"): Output => ({
    isTerminal: false,
    write: (text) => void (output[stream] += text),
    writeLine: (print) => void (output[stream] += print()),
  });
  const code = await runCommand({
    environment,
    args,
    stdout: open("out"),
    stderr: open("err"),
    readFile: readText,
    onSignal: () => {},
    onStrayError: () => {},
    exit: () => Promise.reject(new Error("a command ended the process")),
  });
  return { code, ...output };
}
