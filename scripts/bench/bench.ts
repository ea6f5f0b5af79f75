/**
 * Measures Rowgate beside its peers and the floor: makes the data, starts all, checks that they
 * answer alike, then loads them in turns. Writes results.json, results.md, summary.md and charts.
 * @see docs/performance.md
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installPackages, makeBundle } from "../install_packages.ts";
import { checkAgreement } from "./agree.ts";
import { startBare } from "./bare.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { SIZE } from "./dataset.ts";
import { requireWrk } from "./load.ts";
import { describeMachine, type Options, readOptions, type Work } from "./options.ts";
import { draw } from "./draw.ts";
import { startFeathers } from "./feathers.ts";
import { pictureRatios } from "./picture_ratios.ts";
import { startPostgraphile } from "./postgraphile.ts";
import { startPostgrest } from "./postgrest.ts";
import { printReport, printSummary } from "./report.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { type Measured, measureRounds } from "./rounds.ts";
import { openStatements } from "./statement.ts";
import { makeTasks, type Task } from "./work.ts";

const DATABASE = "bench";

const options = readOptions(process.argv.slice(2));
await requireWrk();
await makeBundle();
await installPackages("test/packages");
await installPackages("scripts/bench/packages", ["--ignore-scripts"]);
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await run(cluster, options);
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function run(cluster: Cluster, options: Options): Promise<void> {
  await cluster.copy(SIZE, DATABASE);
  const sql = cluster.connect(DATABASE);
  const tasks = new Map<Work, Task[]>();
  for (const work of options.works) tasks.set(work, await makeTasks(sql, work));
  const contenders = await startAll(cluster, tasks);
  try {
    for (const work of options.works) await checkAgreement(contenders, tasks.get(work)!, sql);
    console.log(`${contenders.length} contenders answer alike`);
    const measured = await measureRounds(contenders, { tasks, options, folder, cluster, sql });
    await write({ ...describe(cluster), cells: measured });
  } finally {
    await Promise.all([...contenders.map(({ stop }) => stop()), sql.end()]);
  }
}

async function startAll(
  cluster: Cluster,
  tasks: ReadonlyMap<Work, readonly Task[]>,
): Promise<Contender[]> {
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl);
  const print = await openStatements(databaseUrl);
  const examples = new Map([...tasks].map(([work, [first]]) => [work, first!]));
  const contenders = [
    await startPostgrest(databaseUrl, folder),
    await startPostgraphile(databaseUrl),
    await startFeathers(databaseUrl),
  ];
  for (const runtime of options.runtimes) {
    contenders.push(await startRowgate(runtime, { databaseUrl, folder, tokens }));
    contenders.push(await startBare(runtime, { databaseUrl, print, examples }));
  }
  return contenders;
}

function describe(cluster: Cluster): Omit<Measured, "cells"> {
  const { rounds, seconds, concurrency, full } = options;
  const when = new Date().toISOString().slice(0, 10);
  return {
    when,
    machine: describeMachine(),
    postgres: cluster.version,
    full,
    rounds,
    seconds,
    concurrency,
  };
}

async function write(measured: Measured): Promise<void> {
  const { output } = options;
  await mkdir(output, { recursive: true });
  const report = printReport(measured);
  await writeFile(join(output, "results.json"), `${JSON.stringify(measured, null, 1)}\n`);
  await writeFile(join(output, "results.md"), report);
  await writeFile(join(output, "summary.md"), printSummary(measured));
  await draw(pictureRatios(measured), output);
  console.log(`\n${report}\nin ${output}`);
}
