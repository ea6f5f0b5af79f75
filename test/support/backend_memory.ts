import { readFile } from "node:fs/promises";
import type { TestService } from "./service.ts";

/** Runs requests at once, and returns the most memory of its own that a backend had meanwhile. */
export async function measureBackends<T>(
  { database: { admin } }: TestService,
  ask: () => Promise<T>,
): Promise<{ response: T; mostMb: number }> {
  let done = false;
  let mostMb = 0;

  async function watch(): Promise<void> {
    while (!done) {
      const rows = await admin<{ pid: number }[]>`select pid from pg_stat_activity
        where datname = current_database() and application_name = 'rowgate'`;
      for (const { pid } of rows) mostMb = Math.max(mostMb, await readMb(pid));
      // Without a pause, the watch itself would take half of the machine.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  const watching = watch();
  const response = await ask().finally(() => done = true);
  await watching;
  return { response, mostMb };
}

/** Memory that is the process's own; what it shares with others is the server's. */
async function readMb(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  return Math.round(Number(/RssAnon:\s+(\d+) kB/.exec(text)?.[1] ?? 0) / 1024);
}
