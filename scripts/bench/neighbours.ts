/**
 * Measures what one tenant can do to another: tenant B sends one request at a time, alone and while
 * tenant A does its worst. `deno task bench:neighbours [--only=shapes,locked] [--runtimes=deno]
 * [--contenders=rowgate,bare,postgrest] [--seconds=3] [--connections=1,2,4] [--output=folder]`. B's
 * 99th percentile may grow to three times that of B alone. B alone is measured before and after each
 * attack, because one such measurement differs from the next by a third.
 * @see docs/performance/results.md
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Sql } from "../../src/database/postgres/driver.ts";
import { installPackages, makeBundle } from "../install_packages.ts";
import { startBare } from "./bare.ts";
import { startCluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { SIZE } from "./dataset.ts";
import { awaitIdlePostgres } from "./idle_postgres.ts";
import { load, NoAnswer, requireWrk, writeAsks } from "./load.ts";
import {
  addAttackTables,
  type Attack,
  ATTACKER,
  ATTACKS,
  keepOpen,
  LOCKED_ID,
} from "./neighbours_attacks.ts";
import { type Beside, type Latency, type Measured, printContender } from "./neighbours_report.ts";
import { describeMachine, pick, type Runtime, RUNTIMES } from "./options.ts";
import { startPostgrest } from "./postgrest.ts";
import { launch } from "./processes.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import { openStatements } from "./statement.ts";
import { type Task, VARYING } from "./work.ts";

const DATABASE = "bench_neighbours";
/** The tenant that is measured: 29,000 rows. */
const NEIGHBOUR = 5;
const LEAD_MS = 1000;
const WARM_SECONDS = 5;

/** What the neighbour asks, one request at a time. */
const ASKED: Readonly<Record<string, readonly Task[]>> = {
  "look-up": listTasks((id) => ({
    ...{ work: "Q1", kind: "query" },
    body: { filters: { and: [{ field: "id", op: "eq", value: id }] } },
  })),
  "page": listTasks((id) => ({
    ...{ work: "Q3", kind: "query" },
    body: {
      filters: { and: [{ field: "list_id", op: "eq", value: Math.floor(id / 100) }] },
      sort: [{ field: "id", direction: "asc" }],
      per_page: 50,
    },
  })),
  "update": listTasks((id) => ({
    ...{ work: "U1", kind: "single" },
    body: { filters: { id }, fields: { visits: Number(VARYING) } },
  })),
};

const CONTENDERS = ["rowgate", "bare", "postgrest"] as const;

const values = readFlags({
  only: { type: "string" },
  runtimes: { type: "string", default: "deno" },
  contenders: { type: "string", default: CONTENDERS.join(",") },
  seconds: { type: "string", default: "3" },
  connections: { type: "string" },
  output: { type: "string", default: "dist/bench" },
});
const seconds = Number(values.seconds);
const runtimes = pick(values.runtimes, RUNTIMES);
const kinds = pick(values.contenders, CONTENDERS);
const attacks = ATTACKS.filter(({ name }) =>
  values.only?.split(",").some((part) => name.includes(part)) ?? true
).flatMap(repeatWithConnections);

await requireWrk();
await makeBundle();
await installPackages("test/packages");
if (kinds.includes("postgrest")) {
  await installPackages("scripts/bench/packages", ["--ignore-scripts"]);
}
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await measureAll();
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit();

/** With `--connections=1,2,4`: the attack with so many connections in place of its own number. */
function repeatWithConnections(attack: Attack): readonly Attack[] {
  const { name, load } = attack;
  if (load === undefined || values.connections === undefined) return [attack];
  return values.connections.split(",").map(Number).map((connections) => (
    { ...attack, name: `${name}, ${connections} at once`, load: { ...load, connections } }
  ));
}

async function measureAll(): Promise<void> {
  await cluster.copy(SIZE, DATABASE);
  const admin = cluster.connect(DATABASE);
  await addAttackTables(admin);
  const reports: string[] = [];
  for (const start of listStarts(cluster.url(DATABASE, "app"))) {
    const contender = await start();
    try {
      const report = await measureContender(contender, admin);
      reports.push(report);
      // What is above the goal is bold.
      if (contender.kind === "rowgate" && report.includes("**")) process.exitCode = 1;
    } finally {
      await contender.stop();
    }
    console.log(`\n${reports.at(-1)}`);
  }
  await admin.end();
  await mkdir(values.output, { recursive: true });
  const report = [`${describeMachine()}, ${cluster.version}\n`, ...reports].join("\n");
  await writeFile(join(values.output, "neighbours.md"), report);
  console.log(`in ${values.output}`);
}

function listStarts(databaseUrl: string): (() => Promise<Contender>)[] {
  const startOn = (runtime: Runtime) => ({
    rowgate: async () => {
      const tokens = await makeTokens(databaseUrl, [ATTACKER, NEIGHBOUR]);
      return await startRowgate(runtime, { databaseUrl, folder, tokens });
    },
    bare: async () => {
      const print = await openStatements(databaseUrl);
      const attacking = attacks.flatMap(({ load, open }) => open?.task ?? load?.tasks ?? []);
      const tasks = [...Object.values(ASKED).flat(), ...attacking];
      return await startBare(runtime, { databaseUrl, folder, print, tasks });
    },
  });
  return [
    ...runtimes.flatMap((runtime) => {
      const starts = startOn(runtime);
      return kinds.flatMap((kind) => kind === "postgrest" ? [] : [starts[kind]]);
    }),
    ...(kinds.includes("postgrest") ? [() => startPostgrest(databaseUrl, folder)] : []),
  ];
}

/** Measures B alone, then beside each attack and alone again; prints a table. */
async function measureContender(contender: Contender, admin: Sql): Promise<string> {
  const files = new Map<string, string>();
  for (const [name, tasks] of Object.entries(ASKED)) {
    files.set(name, await writeAsks(contender, tasks, { folder, name }));
  }
  await measureNeighbour(contender, files, WARM_SECONDS);

  const alone = [await measureNeighbour(contender, files, seconds)];
  const beside: Beside[] = [];
  for (const attack of attacks) {
    const release = attack.locked === true ? await lockRow() : undefined;
    const each = seconds * (attack.times ?? 1);
    const attacking = await startAttack(attack, contender, {
      seconds: LEAD_MS / 1000 + files.size * each + 1,
    });
    await new Promise((resolve) => setTimeout(resolve, LEAD_MS));
    const measured = await measureNeighbour(contender, files, each);
    beside.push({ name: attack.name, measured, itself: await attacking.stop() });
    await release?.();
    await awaitIdlePostgres(admin);
    alone.push(await measureNeighbour(contender, files, seconds));
    const p99s = Object.values(measured).map((latency) => latency?.p99.toFixed(1) ?? "none");
    console.log(`${contender.name}  ${attack.name}  ${p99s.join("  ")}`);
  }
  return printContender(contender.name, alone, beside);
}

async function measureNeighbour(
  contender: Contender,
  files: ReadonlyMap<string, string>,
  seconds: number,
): Promise<Measured> {
  const measured: Record<string, Latency | undefined> = {};
  for (const [work, file] of files) {
    const options = { file, concurrency: 1, seconds, postgres: cluster.pid };
    const { responses, errors } = await load(contender, options).catch((error) => {
      if (error instanceof NoAnswer) return { responses: undefined, errors: 0 };
      throw error;
    });
    measured[work] = responses && { ...responses, errors };
  }
  return measured;
}

/** Starts an attack; gives the function that ends it and says how many requests a second it had. */
async function startAttack(
  { load: requests, open, busy = 0 }: Attack,
  contender: Contender,
  { seconds }: { readonly seconds: number },
): Promise<{ readonly stop: () => Promise<string> }> {
  if (requests === undefined) {
    const stop = open !== undefined
      ? keepOpen(contender.address, contender.ask(open.task), open.hangUpMs)
      : keepBusy(busy);
    return {
      async stop() {
        await stop();
        return "";
      },
    };
  }
  const { tasks, connections: concurrency } = requests;
  const file = await writeAsks(contender, tasks, { folder, name: "attack" });
  const options = { file, concurrency, seconds: Math.ceil(seconds), postgres: cluster.pid };
  const loaded = load(contender, options).then(
    ({ requests, requestsPerSecond, errors }) => {
      const rate = requestsPerSecond * (1 - errors / requests);
      return `${rate.toFixed(rate < 10 ? 1 : 0)}${errors > 0 ? `, ${errors} fail` : ""}`;
    },
    (error) => {
      if (error instanceof NoAnswer) return "0";
      throw error;
    },
  );
  return { stop: () => loaded };
}

/** Starts processes that only compute; returns the function that ends them. */
function keepBusy(count: number): () => Promise<unknown> {
  const processes = Array.from(
    { length: count },
    () => launch(["sh", "-c", "while :; do :; done"]),
  );
  return () => Promise.all(processes.map(({ stop }) => stop()));
}

/** Locks the attacker's row in another session; returns the function that lets it go. */
async function lockRow(): Promise<() => Promise<void>> {
  const sql = cluster.connect(DATABASE);
  await sql.unsafe("begin");
  await sql.unsafe(
    `update contacts set visits = visits + 1 where tenant_id = ${ATTACKER} and id = ${LOCKED_ID}`,
  );
  return async () => {
    await sql.unsafe("rollback");
    await sql.end();
  };
}

/** A thousand requests of the neighbour, spread over its rows. */
function listTasks(make: (id: number) => Pick<Task, "work" | "kind" | "body">): readonly Task[] {
  return Array.from({ length: 1000 }, (_, n) => (
    { tenant: NEIGHBOUR, shape: 0, ...make(1 + (n * 7919) % 20_000) }
  ));
}
