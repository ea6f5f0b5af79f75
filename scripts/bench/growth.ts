/**
 * Measures how the cost of a request grows: with the tenant's rows, the number of tenants, conditions,
 * rows on a page, connections; and with tokens in use, which is a report of its own.
 * `deno task bench:growth [--full] [--only=rows,tenants]`. Writes growth.json, growth.md, many.json,
 * many.md and a chart for each.
 * @see docs/performance.md
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installPackages, makeBundle } from "../install_packages.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { readMemory } from "./cpu.ts";
import { draw, type Picture } from "./draw.ts";
import { type Axis, type Line, listAxes } from "./growth_axes.ts";
import { type Grown, pictureGrowth, type Point, printGrowth } from "./growth_report.ts";
import { openIdle } from "./idle_connections.ts";
import { load, type LoadOptions, NoAnswer, requireWrk, type Turn, writeAsks } from "./load.ts";
import { describeMachine, type Runtime, RUNTIMES } from "./options.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import type { Task } from "./work.ts";

const DATABASE = "bench_growth";
/** Clients, where there are so many connections. */
const CONCURRENCY = 16;
const TASKS = 400;
const WARM_SECONDS = 2;
/** Below this many requests/s, sixteen clients would wait for each other until they get 503. */
const SLOW_RATE = 30;
const ONE_AT_A_TIME = { concurrency: 1, seconds: 15 };

const values = readFlags({
  full: { type: "boolean", default: false },
  only: { type: "string" },
  runtime: { type: "string", default: "deno" },
  output: { type: "string", default: "dist/bench" },
});
const [seconds, rounds] = values.full ? [2, 3] : [1, 1];
await requireWrk();
await makeBundle();
// Charts are drawn at the end; fail now if they cannot be.
await installPackages("scripts/bench/packages", ["--ignore-scripts"]);
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  const isWanted = (name: string) => values.only?.split(",").includes(name) ?? true;
  const grown: Grown[] = [];
  const many: Grown[] = [];
  for (const axis of listAxes(values.full).filter(({ name }) => isWanted(name))) {
    (axis.report === "many" ? many : grown).push(await measureAxis(cluster, axis));
  }
  await write("growth", {
    found: grown,
    reports: grown.map(printGrowth),
    pictures: grown.map((axis) => pictureGrowth(axis)),
  });
  await write("many", {
    found: many,
    reports: many.map(printGrowth),
    pictures: many.map((axis) => pictureGrowth(axis, "many")),
  });
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** A point on a curve. */
interface Spot {
  readonly axis: Axis;
  readonly line: Line;
  readonly x: number;
}

async function measureAxis(cluster: Cluster, axis: Axis): Promise<Grown> {
  const points: Point[] = [];
  let made = "";
  let service: { contender: Contender; stop: () => Promise<void> } | undefined;
  for (const x of axis.points) {
    const data = JSON.stringify(axis.data(x));
    if (data !== made) {
      await service?.stop();
      service = await startOn(cluster, axis);
      made = data;
    }
    const connections = axis.connections?.(x) ?? CONCURRENCY;
    const concurrency = Math.min(CONCURRENCY, connections);
    const close = await openIdle(service!.contender.address, connections - concurrency);
    for (const line of axis.lines) {
      const turns = await measureLine(service!.contender, { axis, line, x, concurrency });
      const memory = await readMemory(service!.contender.pid);
      points.push({ x, line: line.name, turns, memory });
      console.log(`${axis.name} ${x}: ${line.name} ${turns[0]!.requestsPerSecond.toFixed(1)}/s`);
    }
    close();
  }
  await service?.stop();
  return { name: axis.name, label: axis.label, points };

  async function startOn(cluster: Cluster, axis: Axis) {
    const x = axis.points[points.length === 0 ? 0 : axis.points.indexOf(points.at(-1)!.x) + 1]!;
    await cluster.copy(axis.data(x), DATABASE);
    const databaseUrl = cluster.url(DATABASE, "app");
    const tenants = [...new Set(axis.points.filter((one) => one >= x).flatMap(axis.tenants))];
    const tokens = await makeTokens(databaseUrl, tenants);
    const contender = await startRowgate(findRuntime(), { databaseUrl, folder, tokens });
    return { contender, stop: contender.stop };
  }
}

async function measureLine(
  contender: Contender,
  { concurrency, ...spot }: Spot & { readonly concurrency: number },
): Promise<Turn[]> {
  const { line, x } = spot;
  const tasks = await makeTasks(spot);
  const file = await writeAsks(contender, tasks, { folder, name: "growth" });
  const asked = { file, concurrency, postgres: cluster.pid };
  const rate = await warm(contender, asked);
  const slow = rate === undefined || rate < SLOW_RATE;
  const options = { ...asked, ...(slow ? ONE_AT_A_TIME : { seconds: seconds! }) };
  const turns: Turn[] = [];
  for (let round = 0; round < rounds!; round++) {
    const turn = await load(contender, options);
    if (turn.errors > 0) throw new Error(`${line.name} at ${x}: ${turn.errors} failed`);
    turns.push(turn);
  }
  return turns;
}

/** Gives the requests/s; undefined when there was not one. */
async function warm(
  contender: Contender,
  options: Omit<LoadOptions, "seconds">,
): Promise<number | undefined> {
  try {
    return (await load(contender, { ...options, seconds: WARM_SECONDS })).requestsPerSecond;
  } catch (error) {
    if (error instanceof NoAnswer) return undefined;
    throw error;
  }
}

async function makeTasks({ axis, line, x }: Spot): Promise<Task[]> {
  const sql = cluster.connect(DATABASE);
  const tenants = axis.tenants(x);
  const counts = await sql<{ tenant: number; rows: number }[]>`
    select tenant_id::int4 tenant, max(id)::int4 "rows" from contacts
    where tenant_id = any(${tenants as number[]}) group by 1 order by 1`;
  const tasks: Task[] = [];
  for (let index = 0; index < (axis.tasks?.(x) ?? TASKS); index++) {
    const { tenant, rows } = counts[index % counts.length]!;
    const place = { x, tenant, rows, part: (index + 1) * 0.618033988749895 % 1 };
    tasks.push({ tenant, work: "Q1", kind: "query", shape: 0, ...await line.ask(place, sql) });
  }
  await sql.end();
  return tasks;
}

function findRuntime(): Runtime {
  return RUNTIMES.find((name) => name === values.runtime)!;
}

/** What was measured, as data, as Markdown and as charts. */
interface Report {
  readonly found: unknown;
  readonly reports: readonly string[];
  readonly pictures: readonly Picture[];
}

async function write(name: string, { found, reports, pictures }: Report): Promise<void> {
  if (reports.length === 0) return;
  const { output } = values;
  await mkdir(output, { recursive: true });
  const report = `${describeMachine()}\n\n${reports.join("\n")}`;
  await writeFile(join(output, `${name}.json`), `${JSON.stringify(found, null, 1)}\n`);
  await writeFile(join(output, `${name}.md`), report);
  await draw(pictures, output);
  console.log(`\n${report}\nin ${output}`);
}
