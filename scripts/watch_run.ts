import { readdir, readFile, stat } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import type { Progress } from "../test/support/progress.ts";
import { endProcesses } from "./end_processes.ts";

/** When a run of `deno test` is ended. */
export interface RunLimits {
  /** A test or a hook has run for so long. Those that still answer fail by themselves before that. */
  readonly stuckMs: number;
  /** The run takes so long. */
  readonly wholeMs: number;
}

/** The whole suite takes 15 minutes on two cores, and twice that beside two processes that compute. */
export const RUN_LIMITS: RunLimits = { stuckMs: 7 * 60_000, wholeMs: 55 * 60_000 };

/** What is seen of a run while it runs. */
export interface RunWatch {
  /** Stops watching. Returns what was seen if the run had to be ended, else undefined. */
  readonly stop: () => Promise<EndedRun | undefined>;
}

/** What was seen of a run that did not end by itself. */
export interface EndedRun {
  readonly why: string;
  readonly ended: readonly Progress[];
  readonly running: readonly RunningStage[];
}

/** A test or a hook that has not ended. */
interface RunningStage extends Progress {
  readonly forMs: number;
}

const LOOK_MS = 1000;

/** Watches a run by what its workers write to a folder, and ends its processes when it hangs. */
export function watchRun(pid: number, folder: string, limits: RunLimits): RunWatch {
  const sinceMs = performance.now();
  let seen: EndedRun | undefined;
  let looking = Promise.resolve();
  const timer = setInterval(() => looking = looking.then(look), LOOK_MS);

  async function look(): Promise<void> {
    if (seen !== undefined) return;
    const progress = await readProgress(folder);
    const why = findReason(progress.running);
    if (why === undefined) return;
    seen = { why, ...progress };
    await endProcesses(pid);
  }

  function findReason(running: readonly RunningStage[]): string | undefined {
    if (performance.now() - sinceMs > limits.wholeMs) {
      return `the run did not end in ${limits.wholeMs / 60_000} minutes`;
    }
    const stuck = running.find(({ forMs }) => forMs > limits.stuckMs);
    return stuck && `${nameStage(stuck)} did not end in ${limits.stuckMs / 1000} s`;
  }

  return {
    stop: async () => {
      clearInterval(timer);
      await looking;
      return seen;
    },
  };
}

/** Names a test or a hook by its file and its title. */
export function nameStage({ file, title, isTest }: Progress): string {
  const path = file.startsWith("file:") ? fileURLToPath(file) : file;
  const words = [relative(".", path), ...(isTest ? [] : ["a hook of"]), title];
  return words.filter((word) => word !== "").join(" ");
}

/** The last line of a worker says what it runs, and since when. */
async function readProgress(folder: string): Promise<Omit<EndedRun, "why">> {
  const ended: Progress[] = [];
  const running: RunningStage[] = [];
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    const lines = (await readFile(path, "utf8")).split("\n").slice(0, -1)
      .map((line) => JSON.parse(line) as Progress);
    ended.push(...lines.filter(({ kind }) => kind === "ended"));
    const last = lines.at(-1);
    if (last?.kind === "began") running.push({ ...last, forMs: Date.now() - mtimeMs });
  }
  return { ended, running };
}
