/**
 * Watches memory over a million requests of 20,000 shapes: `deno task bench:memory [--runtimes=deno]
 * [--requests=1000000]`. Prints the median of each quarter; the last should be within 5 % of the
 * second, below 200 MB on Deno and 120 MB on Bun, and Postgres's backends flat as well. First the
 * sessions prepare all statements that stay prepared, so that a cache that still fills is no leak.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { MAX_PREPARED_STATEMENTS } from "../../src/errors/limits.ts";
import { makeBundle } from "../install_packages.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { listChildren, readMemory, readOwnMemory } from "./cpu.ts";
import { SIZE } from "./dataset.ts";
import { load, requireWrk, writeAsks } from "./load.ts";
import { describeMachine, type Runtime, RUNTIMES } from "./options.ts";
import { readFlags } from "./read_flags.ts";
import { printTable } from "./report.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { makeShapes } from "./shapes.ts";

const DATABASE = "bench_memory";
const SHAPES = 20_000;
/** Time in which every session prepares the shapes that stay prepared. */
const FILL_SECONDS = 30;
const MEGABYTE = 1e6;

/** Bytes at one moment. */
interface Sample {
  readonly requests: number;
  readonly service: number;
  /** Private memory of all backends. */
  readonly postgres: number;
}

const values = readFlags({
  runtimes: { type: "string", default: RUNTIMES.join(",") },
  requests: { type: "string", default: "1000000" },
  output: { type: "string", default: "dist/bench" },
});
await requireWrk();
await makeBundle();
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  const rows: string[][] = [];
  const all: Record<string, readonly Sample[]> = {};
  for (const runtime of RUNTIMES.filter((name) => values.runtimes.split(",").includes(name))) {
    const samples = await watch(cluster, runtime);
    all[runtime] = samples;
    rows.push([runtime, "service", ...quarters(samples, "service")]);
    rows.push([runtime, "Postgres", ...quarters(samples, "postgres")]);
  }
  const head = ["runtime", "process", "1st quarter", "2nd", "3rd", "4th", "4th / 2nd"];
  const report = `${describeMachine()}, ${values.requests} requests, MB\n\n${
    printTable(head, rows)
  }`;
  await mkdir(values.output, { recursive: true });
  await writeFile(join(values.output, "memory.json"), `${JSON.stringify(all)}\n`);
  await writeFile(join(values.output, "memory.md"), report);
  console.log(report);
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function watch(cluster: Cluster, runtime: Runtime): Promise<Sample[]> {
  await cluster.copy(SIZE, DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl, [1]);
  const contender = await startRowgate(runtime, { databaseUrl, folder, tokens });
  const shapes = makeShapes(SHAPES);
  const prepared = shapes.slice(0, MAX_PREPARED_STATEMENTS);
  const first = await writeAsks(contender, prepared, { folder, name: "first" });
  const file = await writeAsks(contender, shapes, { folder, name: "shapes" });
  const fill = { file: first, concurrency: 64, seconds: FILL_SECONDS, postgres: cluster.pid };
  await load(contender, fill);
  const samples: Sample[] = [];
  let requests = 0;
  while (requests < Number(values.requests)) {
    const options = { file, concurrency: 16, seconds: 2, postgres: cluster.pid };
    const turn = await load(contender, options);
    if (turn.errors > 0) throw new Error(`${runtime}: ${turn.errors} requests were not answered`);
    requests += Math.round(turn.requestsPerSecond * 2);
    const backends = await listChildren(cluster.pid);
    const own = await Promise.all(backends.map(readOwnMemory));
    samples.push({
      requests,
      service: await readMemory(contender.pid),
      postgres: own.reduce((sum, bytes) => sum + bytes, 0),
    });
  }
  await contender.stop();
  return samples;
}

/** Medians of the four quarters, and the last as a share of the second. */
function quarters(samples: readonly Sample[], of: "service" | "postgres"): string[] {
  const size = samples.length / 4;
  const medians = [0, 1, 2, 3].map((quarter) => {
    const part = samples.slice(Math.floor(quarter * size), Math.ceil((quarter + 1) * size));
    return part.map((sample) => sample[of]).toSorted((a, b) => a - b)[Math.floor(part.length / 2)]!;
  });
  return [
    ...medians.map((bytes) => (bytes / MEGABYTE).toFixed(0)),
    (medians[3]! / medians[1]!).toFixed(2),
  ];
}
