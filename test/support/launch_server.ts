import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";

/**
 * Waits on a pipe of this process, which closes however the process ends. Deno kills what it has started
 * when a worker ends, and so the shell, but not what that runs in the background.
 */
const CLEAN_UP = `trap '' INT HUP TERM
exec 3<&0
{
  word=$(cat <&3)
  kill -INT "$1" 2>/dev/null
  tries=0
  while kill -0 "$1" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
  shift
  [ "$word" = keep ] || rm -rf "$@"
} &
wait`;

/** A server that runs. */
export interface Server {
  readonly isRunning: () => boolean;
  /** Sends a signal to the server and to each of its processes. */
  readonly signal: (name: NodeJS.Signals) => Promise<void>;
  readonly end: (name: NodeJS.Signals) => Promise<void>;
}

/** Waits until a Postgres server is ready; when this process ends, so does it, and the folders are removed. */
export async function launchServer(
  child: ChildProcess,
  folders: readonly string[],
): Promise<Server> {
  const cleaner = startCleaner(child, folders);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const cleaned = new Promise((resolve) => cleaner.once("exit", resolve));
  await becomeReady(child);
  return {
    isRunning: () => child.exitCode === null && child.signalCode === null,
    async signal(name) {
      const list = await read("ps", ["-o", "pid=", "--ppid", String(child.pid)]);
      const pids = list.split(/\s+/).filter((pid) => pid !== "").map(Number);
      for (const pid of [...pids, child.pid!]) {
        try {
          process.kill(pid, name);
        } catch {
          // It has ended since.
        }
      }
    },
    async end(name) {
      child.kill(name);
      await ended;
      cleaner.stdin!.end("keep");
      await cleaned;
    },
  };
}

/** Not detached: for that, Deno forks, which takes a tenth of a second in a process of the tests' size. */
function startCleaner(server: ChildProcess, folders: readonly string[]): ChildProcess {
  return spawn("sh", ["-c", CLEAN_UP, "sh", String(server.pid), ...folders], {
    stdio: ["pipe", "ignore", "ignore"],
  });
}

/** Runs a program and returns what it prints. */
export async function read(command: string, parameters: string[]): Promise<string> {
  const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (chunk) => text += chunk);
  await new Promise((resolve) => child.once("close", resolve));
  return text.trim();
}

/** The server reports it on standard error. */
function becomeReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let output = "";
    server.stdout?.resume();
    server.stderr!.on("data", (chunk) => {
      if (output.length > 100_000) return;
      output += chunk;
      if (/database system is ready to accept (read-only )?connections/.test(output)) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${output}`)));
  });
}
