/**
 * Measures Rowgate beside its peers and the floor: makes the data, starts all, checks that they
 * answer alike, then loads them in turns. Writes results.json, results.md, summary.md and charts after
 * each work, so that a run can be resumed.
 * @see docs/performance.md
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installPackages, makeBundle } from "../install_packages.ts";
import { checkAgreement } from "./agree.ts";
import { startBare } from "./bare.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { SIZE } from "./dataset.ts";
import { draw } from "./draw.ts";
import { startFeathers } from "./feathers.ts";
import { requireWrk } from "./load.ts";
import { type Options, readOptions, type Work, WORKS } from "./options.ts";
import { pictureRatios } from "./picture_ratios.ts";
import { startPostgraphile } from "./postgraphile.ts";
import { startPostgrest } from "./postgrest.ts";
import { printReport } from "./report.ts";
import { beginResults } from "./results.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { type Measured, measureRounds } from "./rounds.ts";
import { openStatements } from "./statement.ts";
import { printSummary } from "./summary.ts";
import { makeTasks, type Task } from "./work.ts";

const DATABASE = "bench";
/** Of a turn: the start of wrk, the wait for Postgres to be idle, the vacuum. */
const OVERHEAD_SECONDS = 0.2;

const started = performance.now();
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
  const file = join(options.output, "results.json");
  const before = options.resume ? await readFile(file, "utf8").catch(() => undefined) : undefined;
  let results = beginResults(options, { postgres: cluster.version, before });
  const done = new Set(results.cells.map(({ work }) => work));
  console.log(`The drawn works are of --seed=${results.seed}`);
  await cluster.copy(SIZE, DATABASE);
  const sql = cluster.connect(DATABASE);
  const tasks = new Map<Work, Task[]>();
  for (const work of options.works) {
    tasks.set(work, await makeTasks(sql, work, { seed: results.seed }));
  }
  const contenders = await startAll(cluster, tasks);
  const workMs = contenders.length * options.concurrency.length * options.rounds *
    (options.seconds + OVERHEAD_SECONDS) * 1000;
  try {
    for (const work of options.works) await checkAgreement(contenders, tasks.get(work)!, sql);
    console.log(`${contenders.length} contenders answer alike`);
    await measureRounds(contenders, {
      tasks,
      options,
      folder,
      cluster,
      sql,
      wants: (work) =>
        !done.has(work) && performance.now() - started + workMs < options.minutes * 60_000,
      onMeasured: async (cells) => {
        results = { ...results, cells: [...results.cells, ...cells] };
        await write(results);
      },
    });
  } finally {
    await Promise.all([...contenders.map(({ stop }) => stop()), sql.end()]);
  }
  const left = options.works.filter((work) => !results.cells.some((cell) => cell.work === work));
  if (left.length > 0) console.log(`${left.join(", ")} are left: --resume measures them`);
  const print = WORKS.every((work) => options.works.includes(work)) ? printSummary : printReport;
  console.log(`\n${print(results)}\nin ${options.output}`);
}

async function startAll(
  cluster: Cluster,
  works: ReadonlyMap<Work, readonly Task[]>,
): Promise<Contender[]> {
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl);
  const print = await openStatements(databaseUrl);
  const tasks = [...works.values()].flat();
  const contenders = [await startPostgrest(databaseUrl, folder)];
  if (options.peers) {
    contenders.push(await startPostgraphile(databaseUrl), await startFeathers(databaseUrl));
  }
  for (const runtime of options.runtimes) {
    contenders.push(await startRowgate(runtime, { databaseUrl, folder, tokens }));
    contenders.push(await startBare(runtime, { databaseUrl, folder, print, tasks }));
  }
  return contenders;
}

async function write(measured: Measured): Promise<void> {
  const { output } = options;
  await mkdir(output, { recursive: true });
  await writeFile(join(output, "results.json"), `${JSON.stringify(measured, null, 1)}\n`);
  await writeFile(join(output, "results.md"), printReport(measured));
  await writeFile(join(output, "summary.md"), printSummary(measured));
  await draw(pictureRatios(measured), output);
}
