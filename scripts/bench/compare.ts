/**
 * Compares builds side by side: `deno run -A scripts/bench/compare.ts deno Q1 64 . ../before`. Each
 * folder is a checkout; on Bun and Node its bundle runs, which `npm run build` makes. On Deno all have
 * the flags of V8 of the checkout that compares. They are loaded in turns, so that a machine that slows
 * down slows all of them. Prints medians, and of the service's CPU the least as well, which other work
 * on the machine disturbs least. Two processes of one build differ by 5 %: name a folder more than once.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { readMemory } from "./cpu.ts";
import { SIZE } from "./dataset.ts";
import { computeMedians } from "./medians.ts";
import { requireWrk } from "./load.ts";
import { readOptions, RUNTIMES, WORKS } from "./options.ts";
import { printTable } from "./report.ts";
import { measureRounds } from "./rounds.ts";
import { makeTokens, RELEASES, startRowgate } from "./rowgate.ts";
import { makeTasks } from "./work.ts";

const DATABASE = "bench_compare";

const words = process.argv.slice(2);
const rounds = words.find((word) => word.startsWith("--rounds=")) ?? "--rounds=7";
const [runtimeName, workName, concurrency = "64", ...folders] = words.filter((word) =>
  !word.startsWith("--rounds=")
);
const runtime = RUNTIMES.find((name) => name === runtimeName);
const work = WORKS.find((name) => name === workName);
if (runtime === undefined || work === undefined || folders.length === 0) {
  console.error("compare.ts deno|bun|node Q1|Q2|Q2W|Q3|U1|U2 16|64 folder folder … [--rounds=7]");
  process.exit(2);
}
await requireWrk();
const temporary = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
const contenders: Contender[] = [];
try {
  await cluster.copy(SIZE, DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl);
  for (const [index, name] of folders.entries()) {
    const folder = await mkdtemp(join(temporary, "log-"));
    const command = RELEASES[runtime].map((word) =>
      /^(src|dist)\//.test(word) ? join(name, word) : word
    );
    const contender = await startRowgate(runtime, { databaseUrl, folder, tokens, command });
    contenders.push({ ...contender, name: `build ${index}` });
  }
  const sql = cluster.connect(DATABASE);
  const tasks = new Map([[work, await makeTasks(sql, work, { seed: 1 })]]);
  const options = readOptions([
    `--concurrency=${concurrency}`,
    rounds,
    "--seconds=1",
  ]);
  const cells = await measureRounds(contenders, {
    tasks,
    options,
    folder: temporary,
    cluster,
    sql,
  });
  await sql.end();
  const rows = await Promise.all(cells.map(async ({ contender, concurrency, turns }) => {
    const { requestsPerSecond, p50, p99, serviceCpu, postgresCpu } = computeMedians({ turns });
    const place = contenders.findIndex(({ name }) => name === contender);
    const values = [
      requestsPerSecond,
      p50,
      p99,
      serviceCpu,
      Math.min(...turns.map((turn) => turn.serviceCpu)),
      postgresCpu,
      await readMemory(contenders[place]!.pid) / 1e6,
    ];
    return [folders[place]!, String(concurrency), ...values.map((value) => value.toFixed(1))];
  }));
  const head = [
    "build",
    "at",
    "requests/s",
    "p50 ms",
    "p99 ms",
    "µs CPU service",
    "least",
    "µs Postgres",
    "MB",
  ];
  console.log(printTable(head, rows));
} finally {
  await Promise.all(contenders.map(({ stop }) => stop()));
  await cluster.stop();
  await rm(temporary, { recursive: true, force: true });
}
process.exit(0);
