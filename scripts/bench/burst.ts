/**
 * Measures the first burst after a quiet time: `deno task bench:burst [--quiet=120]
 * [--rounds=1] [--only=Q1,Q2,U1] [--runtimes=deno,bun,node] [--contenders=rowgate,bare,postgrest]`.
 * The latencies of the first 200 requests of 16 clients, beside those of the seconds that follow; and
 * the same after one second of quiet, for the first milliseconds of any load are slower than the rest.
 * Writes burst.json and burst.md into dist/bench.
 *
 * Every pair of contender and work has a process of its own, all rest at the same time, and then each
 * gets its burst in turn: those that come later rest up to a minute longer. They share Postgres, whose
 * buffers hold the whole table the whole time; sessions, and what each of them caches, are not shared.
 * Clients that come after such a time open their connections anew, which is part of the burst.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installPackages, makeBundle } from "../install_packages.ts";
import { type BareOptions, startBare } from "./bare.ts";
import { type Burst, compareBurst, FIRST, printBursts } from "./burst_report.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { SIZE } from "./dataset.ts";
import { awaitIdlePostgres } from "./idle_postgres.ts";
import { describeMachine, pick, RUNTIMES, type Work, WORKS } from "./options.ts";
import { startPostgrest } from "./postgrest.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { openStatements } from "./statement.ts";
import { sendTimed } from "./timed_client.ts";
import { makeTasks, type Task } from "./work.ts";

const DATABASE = "bench_burst";
const CLIENTS = 16;
/** V8 compiles a handler over some thousands of requests. */
const WARM_SECONDS = 2;
/** The quiet before the burst to compare with: no server has forgotten anything by then. */
const SHORT_QUIET_SECONDS = 1;
/** The burst, and a second later what counts as the steady state. */
const LOAD_SECONDS = 2.4;

const CONTENDERS = ["rowgate", "bare", "postgrest"] as const;

const values = readFlags({
  quiet: { type: "string", default: "120" },
  rounds: { type: "string", default: "1" },
  only: { type: "string", default: "Q1,Q2,U1" },
  runtimes: { type: "string", default: RUNTIMES.join(",") },
  contenders: { type: "string", default: CONTENDERS.join(",") },
  output: { type: "string", default: "dist/bench" },
});
const works = pick(values.only, WORKS);
const runtimes = pick(values.runtimes, RUNTIMES);
const kinds = pick(values.contenders, CONTENDERS);
const quiet = Number(values.quiet);

await makeBundle();
await installPackages("test/packages");
if (kinds.includes("postgrest")) {
  await installPackages("scripts/bench/packages", ["--ignore-scripts"]);
}
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await run(cluster);
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** A contender that serves one work only. */
interface Place {
  readonly work: Work;
  readonly contender: Contender;
  readonly tasks: readonly Task[];
}

async function run(cluster: Cluster): Promise<void> {
  await cluster.copy(SIZE, DATABASE);
  const sql = cluster.connect(DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const shared = {
    databaseUrl,
    tokens: await makeTokens(databaseUrl),
    print: await openStatements(databaseUrl),
  };
  const places: Place[] = [];
  const bursts: Burst[] = [];
  try {
    for (const work of works) {
      const tasks = await makeTasks(sql, work, { seed: 1 });
      for (const contender of await startAll({ ...shared, tasks })) {
        places.push({ work, contender, tasks });
      }
    }
    for (const place of places) {
      await send(place, WARM_SECONDS, 0);
      await rest(SHORT_QUIET_SECONDS);
      bursts.push(await measure(place, SHORT_QUIET_SECONDS, 0));
    }
    for (let round = 1; round <= Number(values.rounds); round++) {
      console.log(`round ${round} of ${values.rounds}: quiet for ${quiet} s`);
      await rest(quiet);
      for (const place of places) {
        await awaitIdlePostgres(sql);
        bursts.push(await measure(place, quiet, round));
      }
    }
  } finally {
    await Promise.all([...places.map(({ contender }) => contender.stop()), sql.end()]);
  }
  await write(bursts);
}

async function measure(place: Place, quietSeconds: number, round: number): Promise<Burst> {
  const timings = await send(place, LOAD_SECONDS, (round + 1) * 317);
  const { work, contender } = place;
  return { work, contender: contender.name, quietSeconds, ...compareBurst(timings) };
}

function rest(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}

function send({ contender, tasks }: Place, seconds: number, from: number) {
  const { address } = contender;
  const asks = tasks.map((task) => contender.ask(task));
  return sendTimed({ address, asks, concurrency: CLIENTS, seconds, from });
}

/** Starts a process of each contender. */
async function startAll(
  options: Omit<BareOptions, "folder"> & { readonly tokens: ReadonlyMap<number, string> },
): Promise<Contender[]> {
  const contenders: Contender[] = [];
  if (kinds.includes("postgrest")) {
    contenders.push(await startPostgrest(options.databaseUrl, folder));
  }
  for (const runtime of runtimes) {
    // Logs of the same name are each in a folder of their own.
    const own = { ...options, folder: await mkdtemp(join(folder, "log-")) };
    if (kinds.includes("rowgate")) contenders.push(await startRowgate(runtime, own));
    if (kinds.includes("bare")) contenders.push(await startBare(runtime, own));
  }
  return contenders;
}

async function write(bursts: readonly Burst[]): Promise<void> {
  const report = `${describeMachine()}; the first ${FIRST} requests of ${CLIENTS} clients after ` +
    `quiet seconds, beside the steady state after them, in ms\n\n${printBursts(bursts)}`;
  await mkdir(values.output, { recursive: true });
  await writeFile(join(values.output, "burst.json"), `${JSON.stringify(bursts, null, 1)}\n`);
  await writeFile(join(values.output, "burst.md"), report);
  console.log(`\n${report}`);
}
