import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Contender } from "./contender.ts";
import { countCpuSeconds, readTreeCpuSeconds } from "./cpu.ts";
import { capture } from "./processes.ts";
import type { Task } from "./work.ts";

/** The result of one turn of one contender. */
export interface Turn {
  readonly requests: number;
  readonly requestsPerSecond: number;
  /**
   * Milliseconds, as wrk says them: a long response counts several times, for all the requests that
   * its client would have sent meanwhile.
   */
  readonly p50: number;
  readonly p99: number;
  /** Milliseconds of one client's responses, each counted once; undefined for several clients. */
  readonly responses?: { readonly p99: number; readonly longest: number };
  /** Microseconds of CPU a request: of the service, and of Postgres. */
  readonly serviceCpu: number;
  readonly postgresCpu: number;
  readonly errors: number;
}

/** Not one request was answered within the turn. */
export class NoAnswer extends Error {}

/** The parameters of one turn. */
export interface LoadOptions {
  readonly file: string;
  readonly concurrency: number;
  readonly seconds: number;
  /** Process id of the postmaster. */
  readonly postgres: number;
}

let turns = 0;
/** Requests by which each turn begins further on in the file: prime, so that all are used alike. */
const STEP = 12_347;

/** Writes the requests of a work, as a contender expects them, to a file for wrk; returns its name. */
export async function writeAsks(
  contender: Contender,
  tasks: readonly Task[],
  { folder, name }: { readonly folder: string; readonly name: string },
): Promise<string> {
  const file = join(folder, `${contender.name.replace(" ", "_")}_${name}.asks`);
  const lines = tasks.map((task) => {
    const { method, path, headers, body } = contender.ask(task);
    const list = Object.entries(headers).map(([key, value]) => `${key}: ${value}`).join("\x1f");
    return [method, path, list, body].join("\t");
  });
  await writeFile(file, `${lines.join("\n")}\n`);
  return file;
}

/** Loads a contender with wrk for some seconds and measures the CPU that it took. */
export async function load(
  { address, pid }: Pick<Contender, "address" | "pid">,
  { file, concurrency, seconds, postgres }: LoadOptions,
): Promise<Turn> {
  const [countService, postgresBefore] = [
    await countCpuSeconds(pid),
    await readTreeCpuSeconds(postgres),
  ];
  // Each turn sends its own numbers of eight digits, and begins elsewhere in the file.
  const number = 10_000_000 + (++turns * 137_911) % 80_000_000;
  const text = await capture([
    ...["wrk", "-t1", `-c${concurrency}`, `-d${seconds}s`, "--timeout", "30s"],
    ...["-s", "scripts/bench/load.lua", address, "--"],
    ...[file, number, turns * STEP, concurrency].map(String),
  ]);
  const serviceSeconds = await countService();
  const postgresSeconds = await readTreeCpuSeconds(postgres) - postgresBefore;
  const line = /^RESULT (.*)$/m.exec(text)?.[1];
  if (line === undefined) throw new Error(`wrk printed no result: ${text}`);
  const { requests, microseconds, p50, p99, response99, longest, errors } = JSON.parse(
    line,
  ) as Record<string, number>;
  if (requests === 0) throw new NoAnswer(`no request was answered within ${seconds} s`);
  return {
    requests: requests!,
    requestsPerSecond: requests! / microseconds! * 1e6,
    p50: p50! / 1000,
    p99: p99! / 1000,
    ...(concurrency === 1
      ? { responses: { p99: response99! / 1000, longest: longest! / 1000 } }
      : {}),
    serviceCpu: serviceSeconds / requests! * 1e6,
    postgresCpu: postgresSeconds / requests! * 1e6,
    errors: errors!,
  };
}

/** Says how to get wrk where it is missing. */
export async function requireWrk(): Promise<void> {
  await capture(["sh", "-c", "command -v wrk"]).catch(() => {
    throw new Error("wrk is not installed: apt-get install wrk");
  });
}
