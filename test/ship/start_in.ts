import { type RunningProcess, startProcess } from "../runtime/run_process.ts";

/** Starts a program in a folder, with the given settings only. */
export function startIn(
  folder: string,
  command: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): RunningProcess {
  return startProcess("sh", ["-c", 'cd "$0" && exec "$@"', folder, ...command], environment);
}
