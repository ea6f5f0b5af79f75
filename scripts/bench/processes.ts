import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import process from "node:process";
import { inherit } from "../../test/support/runtime_server.ts";

/** What a process is started with. */
export interface LaunchOptions {
  readonly cwd?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** File descriptor that takes standard output; else it is dropped. */
  readonly stdout?: number;
}

/** A process of ours. */
export interface Launched {
  readonly pid: number;
  /** Standard error, its beginning. */
  readonly errorOutput: () => string;
  /** Null while it runs. */
  readonly exitCode: () => number | null;
  readonly stop: (signal?: "SIGTERM" | "SIGINT") => Promise<void>;
}

const running = new Set<ChildProcess>();
process.on("exit", () => running.forEach((child) => child.kill("SIGTERM")));
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/** Starts a process that ends with this one. */
export function launch(command: readonly string[], options: LaunchOptions = {}): Launched {
  const { environment, stdout, ...rest } = options;
  const child = spawn(command[0]!, command.slice(1), {
    ...rest,
    env: { ...inherit(), ...environment },
    stdio: ["ignore", stdout ?? "ignore", "pipe"],
  });
  running.add(child);
  let errors = "";
  child.stderr!.on("data", (chunk) => errors.length < 100_000 && (errors += chunk));
  const ended = new Promise<void>((resolve) =>
    child.once("close", () => {
      running.delete(child);
      resolve();
    })
  );
  child.once("error", (error) => errors += error.message);
  return {
    pid: child.pid ?? 0,
    errorOutput: () => errors,
    exitCode: () => child.exitCode,
    stop: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
  };
}

/** Runs a command to its end and gives what it printed. */
export function capture(
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<string> {
  const child = spawn(command[0]!, command.slice(1), {
    env: { ...inherit(), ...environment },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => text += chunk);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve(text);
      else reject(new Error(`${command.join(" ")} ended with ${code}`));
    });
  });
}

/** Waits until a condition holds, while a process runs. */
export async function until(holds: () => Promise<boolean>, child: Launched): Promise<void> {
  for (let tries = 0; tries < 1200; tries++) {
    if (await holds().catch(() => false)) return;
    if (child.exitCode() !== null) break;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`did not get ready: ${child.errorOutput()}`);
}

/** Finds a free loopback port. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
