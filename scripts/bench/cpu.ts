import { readdir, readFile } from "node:fs/promises";

/** Ticks of the kernel's clock in a second, the same on every Linux that we know. */
const TICKS = 100;

interface Stat {
  readonly parent: number;
  readonly own: number;
  /** Of children that have ended. */
  readonly ended: number;
}

/** What rounding may add to the ticks of a process. */
const ROUNDING_SECONDS = 3 / TICKS;

/**
 * Begins to count the CPU time of a process; the function that it gives says how many seconds it has
 * used since. Of the living threads it is known to the nanosecond. `/proc/PID/stat` has the whole
 * process, but only in ticks: it counts where threads have ended meanwhile, as those of PostgREST do.
 */
export async function countCpuSeconds(pid: number): Promise<() => Promise<number>> {
  const [living, whole] = await Promise.all([readLivingSeconds(pid), readWholeSeconds(pid)]);
  return async () => {
    const precise = await readLivingSeconds(pid) - living;
    const rough = await readWholeSeconds(pid) - whole;
    return rough - precise > ROUNDING_SECONDS ? rough : precise;
  };
}

async function readLivingSeconds(pid: number): Promise<number> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const times = await Promise.all(threads.map(async (thread) => {
    const text = await readFile(`/proc/${pid}/task/${thread}/schedstat`, "utf8").catch(() => "0");
    return Number(text.split(" ", 1)[0]);
  }));
  return times.reduce((sum, time) => sum + time, 0) / 1e9;
}

async function readWholeSeconds(pid: number): Promise<number> {
  return ((await readStat(pid))?.own ?? 0) / TICKS;
}

/** Gives the CPU time of a process and all its children, also ended ones: all of Postgres. */
export async function readTreeCpuSeconds(pid: number): Promise<number> {
  const root = await readStat(pid);
  let ticks = (root?.own ?? 0) + (root?.ended ?? 0);
  for (const child of await listChildren(pid)) ticks += (await readStat(child))?.own ?? 0;
  return ticks / TICKS;
}

/**
 * Gives the CPU time of the living children of a process, to the nanosecond: of the sessions of Postgres,
 * while none of them ends.
 */
export async function readChildrenCpuSeconds(pid: number): Promise<number> {
  const children = await listChildren(pid);
  const times = await Promise.all(children.map(readLivingSeconds));
  return times.reduce((sum, time) => sum + time, 0);
}

/** Gives the memory of a process that is its own, in bytes: of Postgres without the shared buffers. */
export async function readOwnMemory(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^RssAnon:\s*(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** Gives the memory of a process, in bytes, shared parts too. */
export async function readMemory(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Number(/^VmRSS:\s*(\d+) kB/m.exec(text)?.[1] ?? 0) * 1024;
}

/** Gives the processes that a process has started. */
export async function listChildren(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => undefined);
  if (text !== undefined) return text.split(" ").filter((word) => word !== "").map(Number);
  const all = (await readdir("/proc")).map(Number).filter((number) => number > 0);
  const parents = await Promise.all(all.map(async (one) => (await readStat(one))?.parent));
  return all.filter((_, index) => parents[index] === pid);
}

async function readStat(pid: number): Promise<Stat | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  // The name in parentheses may hold anything.
  const words = text?.slice(text.lastIndexOf(")") + 2).split(" ").map(Number);
  if (words === undefined) return undefined;
  const [parent, user, system, endedUser, endedSystem] = [1, 11, 12, 13, 14].map((n) => words[n]!);
  return { parent: parent!, own: user! + system!, ended: endedUser! + endedSystem! };
}
