/**
 * Measures Rowgate beside its peers and the floor: makes the data, starts all, checks that they
 * answer alike, then loads them in turns. Writes results.json, results.md, summary.md and charts after
 * each work.
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
import { draw } from "./draw.ts";
import { requireWrk } from "./load.ts";
import { describeMachine, type Options, readOptions, type Work, WORKS } from "./options.ts";
import { pictureRatios } from "./picture_ratios.ts";
import { startPostgrest } from "./postgrest.ts";
import { printReport } from "./report.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { type Cell, type Measured, measureRounds } from "./rounds.ts";
import { openStatements } from "./statement.ts";
import { printSummary } from "./summary.ts";
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
  const { rounds, seconds, concurrency, seed = chooseSeed() } = options;
  const when = new Date().toISOString().slice(0, 10);
  const described = { when, machine: describeMachine(), postgres: cluster.version };
  const cells: Cell[] = [];
  const results: Measured = { ...described, rounds, seconds, concurrency, seed, cells };
  console.log(`The drawn works are of --seed=${seed}`);
  await cluster.copy(SIZE, DATABASE);
  const sql = cluster.connect(DATABASE);
  const tasks = new Map<Work, Task[]>();
  for (const work of options.works) {
    tasks.set(work, await makeTasks(sql, work, { seed }));
  }
  const contenders = await startAll(cluster, tasks);
  try {
    for (const work of options.works) await checkAgreement(contenders, tasks.get(work)!, sql);
    console.log(`${contenders.length} contenders answer alike`);
    await measureRounds(contenders, {
      tasks,
      options,
      folder,
      cluster,
      sql,
      onMeasured: async (measured) => {
        cells.push(...measured);
        await write(results);
      },
    });
  } finally {
    await Promise.all([...contenders.map(({ stop }) => stop()), sql.end()]);
  }
  const print = WORKS.every((work) => options.works.includes(work)) ? printSummary : printReport;
  console.log(`\n${print(results)}\nin ${options.output}`);
}

/** Short enough to be typed. */
function chooseSeed(): number {
  const [seed] = crypto.getRandomValues(new Uint16Array(1));
  return 1 + seed!;
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
