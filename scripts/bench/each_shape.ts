/**
 * Shows on which drawn shapes Rowgate loses: `deno run -A scripts/bench/each_shape.ts
 * [--work=DR] [--seed=1] [--runtime=deno] [--clients=16] [--seconds=3]`. The drawn requests are sent mixed, as in the
 * benchmark, to Rowgate, the bare handler and PostgREST; for each shape it prints the median latency of
 * each, the slowest shape of Rowgate in comparison with the bare handler first.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installPackages, makeBundle } from "../install_packages.ts";
import { startBare } from "./bare.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import { SIZE } from "./dataset.ts";
import { awaitIdlePostgres, vacuumContacts } from "./idle_postgres.ts";
import { median } from "./medians.ts";
import { DRAWN_WORKS, pick, RUNTIMES } from "./options.ts";
import { startPostgrest } from "./postgrest.ts";
import { readFlags } from "./read_flags.ts";
import { printTable } from "./report.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { openStatements } from "./statement.ts";
import { sendTimed } from "./timed_client.ts";
import { makeTasks, type Task } from "./work.ts";

const DATABASE = "bench_each";

const values = readFlags({
  work: { type: "string", default: "DR" },
  seed: { type: "string", default: "1" },
  runtime: { type: "string", default: "deno" },
  clients: { type: "string", default: "16" },
  seconds: { type: "string", default: "3" },
});
const [work] = pick(values.work, DRAWN_WORKS);
const [runtime] = pick(values.runtime, RUNTIMES);

await makeBundle();
await installPackages("test/packages");
await installPackages("scripts/bench/packages", ["--ignore-scripts"]);
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await run(cluster);
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function run(cluster: Cluster): Promise<void> {
  await cluster.copy(SIZE, DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const sql = cluster.connect(DATABASE);
  const tasks = await makeTasks(sql, work!, { seed: Number(values.seed) });
  const tokens = await makeTokens(databaseUrl);
  const print = await openStatements(databaseUrl);
  const contenders = [
    await startRowgate(runtime!, { databaseUrl, folder, tokens }),
    await startBare(runtime!, { databaseUrl, folder, print, tasks }),
    await startPostgrest(databaseUrl, folder),
  ];
  const medians: Map<number, number>[] = [];
  for (const contender of contenders) {
    const options = {
      address: contender.address,
      asks: tasks.map((task) => contender.ask(task)),
      concurrency: Number(values.clients),
      seconds: Number(values.seconds),
    };
    await sendTimed({ ...options, from: 0 });
    await awaitIdlePostgres(sql);
    await vacuumContacts(sql);
    const timings = await sendTimed({ ...options, from: 100_000 });
    const shapes = Map.groupBy(timings, ({ number }) => tasks[number % tasks.length]!.shape);
    medians.push(
      new Map(
        [...shapes].map(([shape, own]) => [shape, median(own.map(({ tookMs }) => tookMs))]),
      ),
    );
    await contender.stop();
    console.log(`${contender.name}: ${(timings.length / options.seconds).toFixed(0)} requests/s`);
  }
  await sql.end();
  const [own, bare, peer] = medians;
  const rows = [...own!].map(([shape, ms]) => ({ shape, ms, times: ms / bare!.get(shape)! }))
    .toSorted((a, b) => b.times - a.times)
    .map(({ shape, ms, times }) => [
      String(shape),
      ms.toFixed(2),
      times.toFixed(2),
      (ms / peer!.get(shape)!).toFixed(2),
      describe(tasks.find((task) => task.shape === shape)!),
    ]);
  console.log(printTable(["shape", "ms", "× bare", "× PostgREST", "for example"], rows));
}

function describe({ kind, body, prefer }: Task): string {
  return `${kind} ${prefer ?? ""} ${JSON.stringify(body)}`;
}
