/**
 * Measures what a tenant of many shapes costs another: `deno task bench:shapes [--runtimes=deno]
 * [--contenders=rowgate,postgrest,bare] [--shapes=10000] [--rate=100] [--rounds=3]`. Tenant A sends
 * 10,000 requests that are all of different shape, and then 100 new ones a second, while B, which has
 * sent nothing before, sends the six works of the benchmark. Then B is silent, A sends another 10,000, and
 * B comes back.
 *
 * Two of each server run on the same data and are measured in turns, since a machine that slows down
 * slows both. To the second, A sends as many requests, all of one shape. The ratios between the two say
 * what the shapes cost B.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installPackages, makeBundle } from "../install_packages.ts";
import { startBare } from "./bare.ts";
import { type Cluster, startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { countCpuSeconds, readTreeCpuSeconds } from "./cpu.ts";
import { SIZE } from "./dataset.ts";
import { awaitIdlePostgres, vacuumContacts } from "./idle_postgres.ts";
import { load, requireWrk, writeAsks } from "./load.ts";
import { median } from "./medians.ts";
import {
  describeMachine,
  FIXED_WORKS,
  pick,
  type Runtime,
  RUNTIMES,
  type Work,
} from "./options.ts";
import { startFlow } from "./paced_client.ts";
import { startPostgrest } from "./postgrest.ts";
import { readFlags } from "./read_flags.ts";
import { printTable } from "./report.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { makeMixedShapes } from "./shapes.ts";
import { openStatements } from "./statement.ts";
import { sendTimed } from "./timed_client.ts";
import { isUpdate, makeTasks, type Task } from "./work.ts";

const DATABASE = "bench_shapes";
const [A, B] = [1, 2];
const CLIENTS = 16;
const TURN_SECONDS = 1;
const WARM_SECONDS = 1;
/** More than A needs for its shapes. */
const LONGEST_SECONDS = 120;
/** More than A's flow lasts for one round of all works, before B is silent and after it. */
const FLOW_SECONDS = 50;
const GOAL = 0.95;

const CONTENDERS = ["rowgate", "postgrest", "bare"] as const;

const values = readFlags({
  runtimes: { type: "string", default: RUNTIMES.join(",") },
  contenders: { type: "string", default: CONTENDERS.join(",") },
  only: { type: "string", default: FIXED_WORKS.join(",") },
  shapes: { type: "string", default: "10000" },
  rate: { type: "string", default: "100" },
  rounds: { type: "string", default: "3" },
  output: { type: "string", default: "dist/bench" },
});
const works = pick(values.only, FIXED_WORKS);
const shapes = Number(values.shapes);
const rate = Number(values.rate);
const rounds = Number(values.rounds);
const runtimes = pick(values.runtimes, RUNTIMES);
const kinds = pick(values.contenders, CONTENDERS);

await requireWrk();
await makeBundle();
await installPackages("test/packages");
if (kinds.includes("postgrest")) {
  await installPackages("scripts/bench/packages", ["--ignore-scripts"]);
}
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  const reports: string[] = [];
  for (const start of listStarts(cluster.url(DATABASE, "app"))) {
    reports.push(await measureServer(cluster, start));
    console.log(reports.at(-1));
  }
  await mkdir(values.output, { recursive: true });
  await writeFile(
    join(values.output, "shapes.md"),
    `${describeMachine()}\n\n${reports.join("\n")}`,
  );
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

/** A service, and what A sends to it. */
interface Side {
  readonly contender: Contender;
  readonly files: ReadonlyMap<Work, string>;
  readonly ask: (number: number) => ReturnType<Contender["ask"]>;
}

/** CPU time in µs. */
interface Cost {
  readonly service: number;
  readonly postgres: number;
}

/** What is compared: requests a second, and the CPU time for each request of B. */
interface Figures extends Cost {
  readonly rate: number;
}

/** One work, of both services. */
interface Pair {
  readonly work: Work;
  readonly sides: readonly Figures[];
}

/** All works, and what A's flow alone takes of each side in a second. */
interface Phase {
  readonly pairs: readonly Pair[];
  readonly flows: readonly Cost[];
}

/** Starts a server that is to be asked these tasks, on a fresh copy of the data. */
type Start = (folder: string, tasks: readonly Task[]) => Promise<Contender>;

function listStarts(databaseUrl: string): Start[] {
  const startOn = (runtime: Runtime): Start[] => [
    ...(kinds.includes("rowgate")
      ? [async (own: string) => {
        const tokens = await makeTokens(databaseUrl, [A, B]);
        return await startRowgate(runtime, { databaseUrl, folder: own, tokens });
      }]
      : []),
    ...(kinds.includes("bare")
      ? [async (own: string, tasks: readonly Task[]) => {
        const print = await openStatements(databaseUrl);
        return await startBare(runtime, { databaseUrl, folder: own, print, tasks });
      }]
      : []),
  ];
  return [
    ...(kinds.includes("postgrest") ? [(own: string) => startPostgrest(databaseUrl, own)] : []),
    ...runtimes.flatMap(startOn),
  ];
}

async function measureServer(cluster: Cluster, start: Start): Promise<string> {
  await cluster.copy(SIZE, DATABASE);
  const sql = cluster.connect(DATABASE);
  const all = makeMixedShapes(2 * shapes + FLOW_SECONDS * rounds * rate);
  /** The first shape that A has never sent. */
  let at = 2 * shapes;
  const tasks = new Map<Work, Task[]>();
  for (const work of works) tasks.set(work, await makeTasks(sql, work, { seed: 1, tenants: [B] }));
  const sides: Side[] = [];
  for (const many of [true, false]) {
    const own = await mkdtemp(join(folder, "side-"));
    const sent = many ? all : all.slice(0, 1);
    const contender = await start(own, [...tasks.values(), sent].flat());
    const files = new Map<Work, string>();
    for (const [work, list] of tasks) {
      files.set(work, await writeAsks(contender, list, { folder: own, name: work }));
    }
    sides.push({ contender, files, ask: (number) => contender.ask(sent[number % sent.length]!) });
  }
  await flood(0);
  for (const work of works) {
    for (const side of sides) await turn(side, work, WARM_SECONDS);
  }
  const newcomer = await measure();
  await flood(shapes);
  const returned = await measure();
  await Promise.all([...sides.map(({ contender }) => contender.stop()), sql.end()]);
  return print(sides[0]!.contender.name, [newcomer, returned]);

  /** A sends its next shapes to both, and then only new ones. */
  async function flood(from: number): Promise<void> {
    for (const { contender: { address }, ask } of sides) {
      const asks = Array.from({ length: shapes }, (_, number) => ask(from + number));
      const once = { count: shapes, seconds: LONGEST_SECONDS, concurrency: CLIENTS, from: 0 };
      const { length } = await sendTimed({ address, asks, ...once });
      if (length < shapes) throw new Error(`A sent ${length} requests in ${LONGEST_SECONDS} s`);
    }
  }

  async function turn({ contender, files }: Side, work: Work, seconds: number) {
    await awaitIdlePostgres(sql);
    const options = { concurrency: CLIENTS, seconds, postgres: cluster.pid };
    const result = await load(contender, { file: files.get(work)!, ...options });
    if (result.errors > 0) throw new Error(`${result.errors} requests of ${work} failed`);
    return result;
  }

  /** Measures both sides in turns, while A sends its flow. */
  async function measure(): Promise<Phase> {
    const flows = await measureFlows();
    const pairs: Pair[] = [];
    for (let round = 0; round < rounds; round++) {
      for (const work of works) {
        const turns: Figures[] = [];
        for (const [place, side] of sides.entries()) {
          if (isUpdate(work)) await vacuumContacts(sql);
          const flow = startFlow(side.contender, side.ask, { rate, from: at });
          const result = await turn(side, work, TURN_SECONDS);
          at += await flow.stop();
          const { requestsPerSecond, serviceCpu, postgresCpu } = result;
          const { service, postgres } = flows[place]!;
          turns.push({
            rate: requestsPerSecond,
            service: serviceCpu - service / requestsPerSecond,
            postgres: postgresCpu - postgres / requestsPerSecond,
          });
        }
        pairs.push({ work, sides: turns });
      }
    }
    return { pairs, flows };
  }

  /** The CPU that A's flow takes alone, in µs a second: it is not B's. */
  async function measureFlows(): Promise<Cost[]> {
    const costs: Cost[] = [];
    for (const { contender, ask } of sides) {
      const before = await readTreeCpuSeconds(cluster.pid);
      const readService = await countCpuSeconds(contender.pid);
      const flow = startFlow(contender, ask, { rate, from: at });
      const seconds = 3;
      await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
      at += await flow.stop();
      const postgres = await readTreeCpuSeconds(cluster.pid) - before;
      costs.push({
        service: await readService() / seconds * 1e6,
        postgres: postgres / seconds * 1e6,
      });
    }
    return costs;
  }
}

function print(name: string, phases: readonly Phase[]): string {
  const rows = works.map((work) => [
    work,
    ...phases.flatMap(({ pairs }) => {
      const own = pairs.filter((pair) => pair.work === work);
      const list = (of: keyof Figures) => own.map(({ sides: [a, b] }) => a![of] / b![of]);
      const rates = list("rate");
      const kept = median(rates).toFixed(2);
      const spread = `${Math.min(...rates).toFixed(2)} to ${Math.max(...rates).toFixed(2)}`;
      const cpu = (["service", "postgres"] as const).map((of) => median(list(of)).toFixed(2));
      return [Number(kept) < GOAL ? `**${kept}**` : kept, spread, cpu.join(", ")];
    }),
  ]);
  const head = ["new", "back"].flatMap((phase) => [`${phase}: req/s ×`, "from, to", "CPU ×"]);
  const more = (of: keyof Cost) =>
    phases.map(({ flows: [a, b] }) => ((a![of] - b![of]) / rate).toFixed(0)).join(" and ");
  return `${name}: A sent ${shapes} shapes, then ${rate} new ones a second. Beside a known shape, a ` +
    `new one takes ${more("service")} µs more of the service, and ${
      more("postgres")
    } of Postgres.\n\n` +
    printTable(["work of B", ...head], rows);
}
