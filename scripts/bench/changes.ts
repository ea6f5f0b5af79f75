/**
 * Measures what a changes feed costs: writers with and without it, and a thousand clients that wait. Single
 * updates are those of four sessions that do nothing else (`single`), or come through Rowgate from one
 * client or sixteen (`patch1`, `patch16`).
 * `deno run -A scripts/bench/changes.ts --runs=5 --clients=1000 --seconds=20 [--works=update,copy] [--disk]
 * [--commit=off]`, on a throw-away Postgres that keeps what it writes (fsync on): in memory, where a commit takes no
 * time, or on the disk; `--commit` is `synchronous_commit` of the writers. Beside the time it gives the CPU time of the
 * sessions, which depends less on what else the machine does.
 */
import { readFile } from "node:fs/promises";
import process from "node:process";
import postgres from "postgres";
import { openChanges } from "../../src/changes/changes.ts";
import { findTarget } from "../../src/changes/find_feeds.ts";
import { disableFeeds, enableFeed } from "../../src/changes/manage_feeds.ts";
import { followDatabase } from "../../src/catalogue/current_catalogue.ts";
import { readConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/postgres/open_database.ts";
import type { Database } from "../../src/postgres/database.ts";
import { planChanges } from "../../src/plan/changes_plan.ts";
import { migrateSchema } from "../../src/schema/migrate_schema.ts";
import { startCluster } from "../../test/support/cluster.ts";
import { startPatching } from "./patching.ts";
import { readFlags } from "./read_flags.ts";

const values = readFlags({
  runs: { type: "string", default: "5" },
  seconds: { type: "string", default: "20" },
  clients: { type: "string", default: "1000" },
  rows: { type: "string", default: "100000" },
  works: { type: "string", default: "insert,update,copy,delete,single,patch1,patch16" },
  disk: { type: "boolean", default: false },
  commit: { type: "string", default: "on" },
});
const [runs, seconds, clients, rows] = [values.runs, values.seconds, values.clients, values.rows]
  .map(Number) as [number, number, number, number];

const settings = { fsync: "on", full_page_writes: "on", synchronous_commit: values.commit };
const cluster = await startCluster({ settings, onDisk: values.disk });
const url = `${cluster.url}/postgres`;
const admin = postgres(url, { max: 4, onnotice: () => {} });
await admin.unsafe(
  `create table orders (id int8 primary key, tenant_id text not null, order_no text,
  note text, n int4 not null default 0, modified_at timestamptz default now())`,
);
await admin.unsafe("create index on orders (tenant_id, id)");
await admin.unsafe("create index on orders (tenant_id, modified_at)");
const { config } = readConfig({ DATABASE_URL: url });
const database = openDatabase(config!, () => {});
await migrateSchema(database);
const policy = { tables: new Map(), credentialTables: [] } as unknown as Parameters<
  typeof followDatabase
>[1]["policy"];
const options = { schemas: ["public"], tenantColumn: "tenant_id", policy, observe: () => {} };

/** Gives the table as clients see it now. */
async function findTable() {
  const current = followDatabase(database, options);
  const { tables } = await current.current();
  current.close();
  return tables.get("orders")!;
}

async function setFeed(on: boolean): Promise<void> {
  const { target } = await findTarget(database, await findTable());
  if (on) await enableFeed(database, target);
  else await disableFeeds(database, target.replaced);
}

const INSERT = `insert into orders select g, 't' || g % 100, 'A-' || g, repeat('x', 60)
  from generate_series(1, ${rows}) g`;

/** Works that are timed, each with what makes it ready. */
const WORKS: Readonly<Record<string, readonly [prepare: string, work: string]>> = {
  "insert": ["truncate orders", INSERT],
  "update": [`truncate orders; ${INSERT}; vacuum orders`, "update orders set n = n + 1"],
  "copy": [
    `truncate orders; ${INSERT}; copy orders to '${cluster.data}/orders.copy'; truncate orders`,
    `copy orders from '${cluster.data}/orders.copy'`,
  ],
  "delete": [`truncate orders; ${INSERT}; vacuum orders`, "delete from orders"],
};

/** What a work took, in milliseconds. */
interface Taken {
  readonly ms: number;
  readonly cpuMs: number;
}

/** CPU time of sessions so far: Linux counts it in hundredths of a second. */
async function readCpuMs(pids: readonly number[]): Promise<number> {
  let ticks = 0;
  for (const pid of pids) {
    const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    ticks += Number(fields[11] ?? 0) + Number(fields[12] ?? 0);
  }
  return ticks * 10;
}

async function findPid(sql: typeof admin): Promise<number> {
  const [row] = await sql`select pg_backend_pid() as pid`;
  return row!["pid"];
}

async function timeBulk(name: string): Promise<Taken> {
  const [prepare, work] = WORKS[name]!;
  for (const statement of prepare.split("; ")) await admin.unsafe(statement);
  await admin.unsafe("checkpoint");
  const session = postgres(url, { max: 1, onnotice: () => {} });
  const pid = await findPid(session);
  const beforeMs = await readCpuMs([pid]);
  const startedMs = performance.now();
  await session.unsafe(work);
  const ms = performance.now() - startedMs;
  const cpuMs = await readCpuMs([pid]) - beforeMs;
  await session.end();
  return { ms, cpuMs };
}

const WRITERS = 4;
const SINGLES_MS = 4000;

/** Updates one row after another until the time is over; gives how many. */
type Write = (writer: number, untilMs: number) => Promise<number>;

/** Updates of one row each, by several writers for four seconds: what one of them took. */
async function timeWriters(writers: number, { write, pids }: {
  readonly write: Write;
  readonly pids: readonly number[];
}): Promise<Taken> {
  for (const statement of ["truncate orders", INSERT, "vacuum orders", "checkpoint"]) {
    await admin.unsafe(statement);
  }
  const beforeMs = await readCpuMs(pids);
  const startedMs = performance.now();
  const counts = await Promise.all(
    Array.from({ length: writers }, (_, writer) => write(writer, startedMs + SINGLES_MS)),
  );
  const ms = performance.now() - startedMs;
  const done = counts.reduce((sum, count) => sum + count, 0);
  return { ms: ms / done, cpuMs: (await readCpuMs(pids) - beforeMs) / done };
}

/** By sessions that do nothing else. */
async function timeSingles(): Promise<Taken> {
  const sessions = Array.from(
    { length: WRITERS },
    () => postgres(url, { max: 1, onnotice: () => {} }),
  );
  const write: Write = async (writer, untilMs) => {
    const sql = sessions[writer]!;
    let done = 0;
    for (; performance.now() < untilMs; done++) {
      const id = 1 + (writer * 25_000 + done) % rows;
      await sql`update orders set n = n + 1 where tenant_id = ${"t" + id % 100} and id = ${id}`;
    }
    return done;
  };
  const pids = await Promise.all(sessions.map(findPid));
  const taken = await timeWriters(WRITERS, { write, pids });
  await Promise.all(sessions.map((sql) => sql.end()));
  return taken;
}

/** By clients of a server of Rowgate, all of one tenant; CPU is that of the server's sessions. */
async function openPatches() {
  const { patch, stop } = await startPatching(url, "t7");
  const openWrite = (clients: number): Write => async (writer, untilMs) => {
    let done = 0;
    for (; performance.now() < untilMs; done++) {
      // Each is at another row.
      await patch(7 + 100 * ((writer + clients * done) % (rows / 100)), done + 1);
    }
    return done;
  };
  return {
    time: async (clients: number): Promise<Taken> => {
      const write = openWrite(clients);
      const warmMs = performance.now() + 500;
      await Promise.all(Array.from({ length: clients }, (_, client) => write(client, warmMs)));
      const found = await admin`select pid from pg_stat_activity
        where application_name like 'rowgate%' and backend_type = 'client backend'`;
      return await timeWriters(clients, { write, pids: found.map(({ pid }) => pid) });
    },
    stop,
  };
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!;
}

async function measureWriters(): Promise<void> {
  const names = values.works.split(",");
  const taken = new Map<string, Taken[]>();
  const patches = names.some((name) => name.startsWith("patch")) ? await openPatches() : undefined;
  const time = (name: string) => {
    if (name === "single") return timeSingles();
    if (name.startsWith("patch")) return patches!.time(Number(name.slice("patch".length)));
    return timeBulk(name);
  };
  for (let run = 0; run < runs; run++) {
    for (const name of names) {
      for (const isOn of run % 2 === 0 ? [false, true] : [true, false]) {
        await setFeed(isOn);
        const key = `${name} ${isOn}`;
        taken.set(key, [...taken.get(key) ?? [], await time(name)]);
      }
    }
  }
  await patches?.stop();
  for (const name of names) {
    const middle = (isOn: boolean, of: "ms" | "cpuMs") =>
      median(taken.get(`${name} ${isOn}`)!.map((each) => each[of]));
    const say = (of: "ms" | "cpuMs") =>
      `${middle(false, of).toFixed(3)} ms, with feed ${middle(true, of).toFixed(3)} ms, ` +
      `${(middle(true, of) / middle(false, of)).toFixed(2)} times`;
    const kept = (middle(false, "ms") / middle(true, "ms")).toFixed(2);
    const what = name in WORKS ? `${name} of ${rows} rows` : `${name}: one update (keeps ${kept})`;
    console.log(`${what}: ${say("ms")}; CPU ${say("cpuMs")}`);
  }
}

async function measureWaiters(): Promise<void> {
  await setFeed(true);
  const table = await findTable();
  let statements = 0;
  const counting: Database = {
    ...database,
    run: (compile, options) => {
      statements++;
      return database.run(compile, options);
    },
  };
  const changes = openChanges(counting, { observe: () => {}, tenantSetting: undefined });
  const planOf = (tenant: string) =>
    planChanges({ fields: [], limit: 200 }, { table, access: { tenant } as never });
  let running = true;
  let committedMs = 0;
  const delays: number[] = [];
  const follow = async (client: number) => {
    const plan = planOf(`t${client % 100}`);
    let { position } = await changes.read(plan, "now");
    while (running) {
      const untilMs = performance.now() + 60_000;
      const waited = await changes.wait({ plan, position, untilMs });
      if (waited.kind === "idle") position = waited.position;
      if (waited.kind !== "changed") continue;
      const page = await changes.read(plan, waited.position);
      if (page.changes.length > 0) delays.push(performance.now() - committedMs);
      position = page.position;
    }
  };
  const following = Array.from({ length: clients }, (_, client) => follow(client));
  await new Promise((resolve) => setTimeout(resolve, 3000));
  const memory = () => Math.round(process.memoryUsage().rss / 1024 / 1024);
  const before = memory();
  statements = 0;
  const startedMs = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const perSecond = statements / ((performance.now() - startedMs) / 1000);
  console.log(
    `${clients} clients of 100 tenants at rest: ${perSecond.toFixed(1)} statements/s, ` +
      `${before} MB, ${memory()} MB after ${seconds} s`,
  );
  for (let n = 0; n < 30; n++) {
    await admin`update orders set n = n + 1 where id = ${1 + n}`;
    committedMs = performance.now();
    await new Promise((resolve) => setTimeout(resolve, 400 + Math.random() * 200));
  }
  const sorted = delays.toSorted((a, b) => a - b);
  const at = (part: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
  console.log(
    `from commit to client: p50 ${at(0.5).toFixed(0)} ms, p99 ${at(0.99).toFixed(0)} ms ` +
      `(${sorted.length} answers)`,
  );
  running = false;
  changes.close();
  await Promise.all(following);
}

await measureWriters();
if (clients > 0) await measureWaiters();
await database.close(1000);
await admin.end();
await cluster.stop();
