/**
 * Compares exports with `psql \copy` of the same rows: `deno run -A scripts/bench/export.ts
 * [--runtimes=deno,bun,node] [--rows=1000000] [--rounds=3]`. One tenant has all rows, of 12 columns. In each
 * round psql and every runtime take turns; curl reads what a service exports. Memory is the largest that a
 * process ever had less what it had before. In the end look-ups by key are timed, alone and beside an
 * export. `--rows=10000000` takes an hour and 4 GB of disk.
 */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { countCpuSeconds } from "./cpu.ts";
import { SIZE } from "./dataset.ts";
import { pick, RUNTIMES } from "./options.ts";
import { capture } from "./processes.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";

const LOOK_UPS = 500;
const LOOK_UP_EVERY_MS = 10;
const DATABASE = "bench_export";
const FORMS = {
  "csv": { accept: "text/csv", copy: "csv header" },
  "ndjson": { accept: "application/x-ndjson", copy: "csv header" },
} as const;

const { values } = parseArgs({
  options: {
    runtimes: { type: "string", default: "deno,bun,node" },
    rows: { type: "string", default: String(SIZE.rows) },
    rounds: { type: "string", default: "3" },
  },
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
      const look = () => measureLookUps(service.address, tokens.get(1)!);
      const alone = await look();
      let isOver = false;
      const exporting = (async () => {
        while (!isOver) await ask(FORMS.ndjson.accept);
      })();
      const beside = await look();
      isOver = true;
      await exporting;
      console.log(
        `${runtime}: p99 of look-ups by key ${alone.toFixed(1)} ms, beside an export ` +
          `${beside.toFixed(1)} ms (${(beside / alone).toFixed(2)})`,
      );
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

/** The 99th percentile, in ms, of look-ups that are sent at a rate for a while, whatever runs beside them. */
async function measureLookUps(address: string, token: string): Promise<number> {
  const taken: number[] = [];
  const sending: Promise<void>[] = [];
  for (let id = 1; id <= LOOK_UPS; id++) {
    const startedMs = performance.now();
    sending.push((async () => {
      const response = await fetch(`${address}/integration/tables/contacts/query`, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
        body: JSON.stringify({ filters: { and: [{ field: "id", op: "eq", value: id }] } }),
      });
      await response.text();
      taken.push(performance.now() - startedMs);
    })());
    await new Promise((resolve) => setTimeout(resolve, LOOK_UP_EVERY_MS));
  }
  await Promise.all(sending);
  return taken.sort((one, other) => one - other)[Math.floor(taken.length * 0.99)]!;
}

async function readMb(pid: number, name: "VmRSS" | "VmHWM"): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)![1]) / 1024;
}

function median(numbers: readonly number[]): number {
  return [...numbers].sort((one, other) => one - other)[Math.floor(numbers.length / 2)]!;
}
