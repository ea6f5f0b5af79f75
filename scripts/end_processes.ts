import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";

/** How long processes have to end by themselves: a Postgres stops, and its folders are removed. */
const PATIENCE_MS = 10_000;

/**
 * Ends a process and all that it has started, directly or not, each by its id: itself at once, and the
 * others with SIGTERM, suspended ones too, and what has not ended after ten seconds with SIGKILL.
 */
export async function endProcesses(pid: number): Promise<void> {
  const others = await listDescendants(pid);
  sendTo(pid, "SIGKILL");
  for (const signal of ["SIGCONT", "SIGTERM"] as const) {
    for (const other of others) sendTo(other, signal);
  }
  const end = performance.now() + PATIENCE_MS;
  const left = () => others.filter((other) => sendTo(other, 0));
  while (left().length > 0 && performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  for (const other of left()) sendTo(other, "SIGKILL");
}

/** Lists what a process has started, and what that has started. */
async function listDescendants(pid: number): Promise<readonly number[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-o", "pid=,ppid="]);
  const pairs = stdout.trim().split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  const found = [pid];
  for (const parent of found) {
    found.push(...pairs.filter(([, of]) => of === parent).map(([child = 0]) => child));
  }
  return found.slice(1);
}

/** Reports whether the process was there. */
function sendTo(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
