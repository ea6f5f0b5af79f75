import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";

/** Waits on a pipe of ours: it ends with this process, however that went. */
const WATCH = `trap '' INT HUP TERM
word=$(cat)
kill -INT "$1" 2>/dev/null
tries=0
while kill -0 "$1" 2>/dev/null && [ $tries -lt 50 ]; do sleep 0.1; tries=$((tries + 1)); done
shift
[ "$word" = keep ] || rm -rf "$@"`;

/** A server that runs. */
export interface Server {
  /** Sends a signal to the server and to each of its processes. */
  readonly signal: (name: NodeJS.Signals) => Promise<void>;
  readonly end: (name: NodeJS.Signals) => Promise<void>;
}

/** Waits until a server of Postgres is ready; it ends with this process, and takes the folders away. */
export async function launchServer(
  child: ChildProcess,
  folders: readonly string[],
): Promise<Server> {
  const watcher = watch(child, folders);
  const ended = new Promise((resolve) => child.once("exit", resolve));
  await becomeReady(child);
  return {
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
      watcher.stdin!.end("keep");
      await new Promise((resolve) => watcher.once("exit", resolve));
    },
  };
}

function watch(server: ChildProcess, folders: readonly string[]): ChildProcess {
  return spawn("sh", ["-c", WATCH, "sh", String(server.pid), ...folders], {
    detached: true,
    stdio: ["pipe", "ignore", "ignore"],
  });
}

/** Gives what a program prints. */
export async function read(command: string, parameters: string[]): Promise<string> {
  const child = spawn(command, parameters, { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  child.stdout.on("data", (chunk) => text += chunk);
  await new Promise((resolve) => child.once("close", resolve));
  return text.trim();
}

/** The server says so itself on standard error. */
function becomeReady(server: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    let told = "";
    server.stdout?.resume();
    server.stderr!.on("data", (chunk) => {
      if (told.length > 100_000) return;
      told += chunk;
      if (/database system is ready to accept (read-only )?connections/.test(told)) resolve();
    });
    server.once("error", reject);
    server.once("exit", (code) => reject(new Error(`postgres ended with ${code}: ${told}`)));
  });
}
