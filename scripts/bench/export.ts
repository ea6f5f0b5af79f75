/**
 * Compares exports with `psql \copy` of the same rows: `deno run -A scripts/bench/export.ts
 * [--runtimes=deno,bun,node] [--rows=1000000] [--rounds=3]`. One tenant has all rows, of 12 columns. In each
 * round psql and every runtime take turns; curl reads what a service exports. Memory is the largest that a
 * process ever had less what it had before. In the end look-ups by key are timed, and requests that need no
 * database: alone, beside psql and beside an export, whose throughput meanwhile is compared as well.
 * `--rows=10000000` takes an hour and 4 GB of disk.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { countCpuSeconds } from "./cpu.ts";
import { SIZE } from "./dataset.ts";
import { pick, RUNTIMES } from "./options.ts";
import { capture } from "./processes.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";

const LOOK_UPS = 500;
const LOOK_UP_EVERY_MS = 10;
/** What the two kinds of requests are called. */
const NAMES = { rows: "look-ups by key", live: "/livez" };
const DATABASE = "bench_export";

/** 99th percentiles, in ms. */
type Latencies = Readonly<Record<keyof typeof NAMES, number>>;

/** What one work was measured with. */
interface Beside {
  /** Of each round. */
  readonly latencies: Latencies[];
  /** What each of its runs took that ended while requests were sent. */
  readonly seconds: number[];
}

const FORMS = {
  "csv": { accept: "text/csv", copy: "csv header" },
  "ndjson": { accept: "application/x-ndjson", copy: "csv header" },
} as const;

const values = readFlags({
  runtimes: { type: "string", default: "deno,bun,node" },
  rows: { type: "string", default: String(SIZE.rows) },
  rounds: { type: "string", default: "3" },
});

await makeBundle();
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await cluster.copy({ rows: Number(values.rows), tenants: 1, spread: "even" }, DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl, [1]);
  for (const runtime of pick(values.runtimes, RUNTIMES)) {
    const service = await startRowgate(runtime, { databaseUrl, folder, tokens });
    try {
      const ask = (accept: string) =>
        measure([
          ...["curl", "-sf", "-o", "/dev/null", "-H", `Authorization: Bearer ${tokens.get(1)}`],
          ...["-H", "Content-Type: application/json", "-H", `Accept: ${accept}`, "-d", "{}"],
          `${service.address}/integration/tables/contacts/query`,
        ]);
      await ask(FORMS.csv.accept);
      const beforeMb = await readMb(service.pid, "VmRSS");
      for (const [form, { accept, copy }] of Object.entries(FORMS)) {
        const ratios: number[] = [];
        const seconds: number[] = [];
        const countCpu = await countCpuSeconds(service.pid!);
        for (let round = 0; round < Number(values.rounds); round++) {
          const text = `\\copy (select * from contacts where tenant_id = 1) to /dev/null ${copy}`;
          const copied = await measure(["psql", "-qX", databaseUrl, "-c", text]);
          const exported = await ask(accept);
          ratios.push(copied / exported);
          seconds.push(exported);
        }
        const cpuMicros = 1e6 * await countCpu() /
          (Number(values.rows) * Number(values.rounds));
        const peakMb = await readMb(service.pid, "VmHWM");
        console.log(
          `${runtime} ${form}: ${median(ratios).toFixed(2)} of psql, ` +
            `${(Number(values.rows) / median(seconds) / 1000).toFixed(0)} k rows/s, ` +
            `${(peakMb - beforeMb).toFixed(0)} MB more, ${
              cpuMicros.toFixed(2)
            } µs CPU of the service for a row`,
        );
      }
      const text = "\\copy (select * from contacts where tenant_id = 1) to /dev/null csv header";
      const copy = () => measure(["psql", "-qX", databaseUrl, "-c", text]);
      const [none, copying, exporting] = await measureBeside(service.address, tokens.get(1)!, [
        undefined,
        copy,
        () => ask(FORMS.ndjson.accept),
      ]);
      const ratio = median(copying!.seconds) / median(exporting!.seconds);
      console.log(`${runtime}: ${ratio.toFixed(2)} of psql, both beside 200 requests a second`);
      for (const name of ["rows", "live"] as const) {
        const find = ({ latencies }: Beside) => median(latencies.map((each) => each[name]));
        const [alone, psql, own] = [find(none!), find(copying!), find(exporting!)];
        console.log(
          `${runtime}: p99 of ${NAMES[name]} ${alone.toFixed(1)} ms, beside psql ` +
            `${psql.toFixed(1)} ms, beside an export ${own.toFixed(1)} ms ` +
            `(${(own / alone).toFixed(2)} of alone, ${(own / psql).toFixed(2)} of psql)`,
        );
      }
    } finally {
      await service.stop();
    }
  }
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** Seconds that a command takes. */
async function measure(command: readonly string[]): Promise<number> {
  const startedMs = performance.now();
  await capture(command, {});
  return (performance.now() - startedMs) / 1000;
}

/** Measures what runs beside each work, or beside nothing, in turns. */
async function measureBeside(
  address: string,
  token: string,
  works: readonly ((() => Promise<number>) | undefined)[],
): Promise<Beside[]> {
  const found = works.map((): Beside => ({ latencies: [], seconds: [] }));
  for (let round = 0; round < Number(values.rounds); round++) {
    for (const [place, work] of works.entries()) {
      const { latencies, seconds } = found[place]!;
      let isOver = false;
      const working = (async () => {
        while (work !== undefined && !isOver) {
          const taken = await work();
          if (!isOver) seconds.push(taken);
        }
      })();
      latencies.push(await measureLatencies(address, token));
      isOver = true;
      await working;
    }
  }
  return found;
}

/**
 * The 99th percentiles, in ms, of requests that are sent at a rate for a while, whatever runs beside them:
 * look-ups by key, and requests that need no database.
 */
async function measureLatencies(address: string, token: string): Promise<Latencies> {
  const taken = { rows: [] as number[], live: [] as number[] };
  const sending: Promise<void>[] = [];
  const rest = () => new Promise((resolve) => setTimeout(resolve, LOOK_UP_EVERY_MS / 2));
  for (let id = 1; id <= LOOK_UPS; id++) {
    const lookUp = {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ filters: { and: [{ field: "id", op: "eq", value: id }] } }),
    };
    sending.push(time(taken.rows, `${address}/integration/tables/contacts/query`, lookUp));
    await rest();
    sending.push(time(taken.live, `${address}/livez`));
    await rest();
  }
  await Promise.all(sending);
  return { rows: findP99(taken.rows), live: findP99(taken.live) };
}

async function time(taken: number[], address: string, init?: RequestInit): Promise<void> {
  const startedMs = performance.now();
  await (await fetch(address, init)).text();
  taken.push(performance.now() - startedMs);
}

function findP99(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length * 0.99)]!;
}

async function readMb(pid: number, name: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)![1]) / 1024;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)]!;
}
