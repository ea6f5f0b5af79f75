import { readdir, readFile, readlink } from "node:fs/promises";
import type { TestService } from "../../test/support/service.ts";

/** The resources of a process at one moment. */
export interface Sample {
  readonly rssMiB: number;
  /** Open descriptors, without the connections of clients. */
  readonly descriptors: number;
  /** Connections of clients. */
  readonly clients: number;
  /** Connections to the database. */
  readonly sessions: number;
  /** Private memory of the largest backend. */
  readonly backendMiB: number;
  /** Milliseconds of `/livez`, which needs nothing but the event loop. */
  readonly livezMs: number;
}

/** Samples the server and its backends, from /proc. */
export async function takeSample({ server, database }: TestService): Promise<Sample> {
  const { pid, address } = server!;
  const started = performance.now();
  await (await fetch(`${address}/livez`)).body?.cancel();
  const livezMs = performance.now() - started;
  const backends = await database.admin<{ pid: number }[]>`
    select pid from pg_stat_activity
    where datname = current_database() and application_name = 'rowgate'
      and usename = 'rowgate_app'`;
  const memory = await Promise.all(backends.map(({ pid }) => readMemory(pid, "RssAnon")));
  const sockets = await listClients(pid, Number(new URL(address).port));
  const open = await listDescriptors(pid);
  return {
    rssMiB: await readMemory(pid, "VmRSS"),
    descriptors: open.filter((target) => !sockets.has(target)).length,
    clients: open.filter((target) => sockets.has(target)).length,
    sessions: backends.length,
    backendMiB: Math.max(0, ...memory),
    livezMs,
  };
}

/** Zero for a process that has ended. */
async function readMemory(pid: number, field: "VmRSS" | "RssAnon"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const found = new RegExp(`^${field}:\\s+(\\d+) kB`, "m").exec(status);
  return Number(found?.[1] ?? 0) / 1024;
}

async function listDescriptors(pid: number): Promise<string[]> {
  const names = await readdir(`/proc/${pid}/fd`);
  const targets = names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => ""));
  return (await Promise.all(targets)).filter((target) => target !== "");
}

/** The sockets of connections that came in at the port, by their names among the descriptors. */
async function listClients(pid: number, port: number): Promise<ReadonlySet<string>> {
  const table = await readFile(`/proc/${pid}/net/tcp`, "utf8");
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const LISTENING = "0A";
  return new Set(
    table.split("\n").map((line) => line.trim().split(/\s+/))
      .filter(([, own, , state]) => own?.endsWith(local) && state !== LISTENING)
      .map((columns) => `socket:[${columns[9]}]`),
  );
}
