import process from "node:process";
import postgres from "postgres";
import { buildCatalogue } from "../../src/catalogue/build_catalogue.ts";
import { introspect } from "../../src/catalogue/introspect.ts";
import type { Reading } from "../../src/catalogue/introspection.ts";
import { addReading, type Known, NOTHING_KNOWN } from "../../src/catalogue/known_tables.ts";
import { EMPTY_POLICY } from "../../src/catalogue/policy.ts";
import type { Sql } from "../../src/postgres/driver.ts";
import type { Cluster } from "./cluster.ts";
import type { Contender } from "./contender.ts";
import { countCpuSeconds, listChildren, readMemory, readOwnMemory } from "./cpu.ts";
import type { Picture } from "./draw.ts";
import { pictureLines } from "./growth_report.ts";
import { load, type Turn, writeAsks } from "./load.ts";
import { median } from "./medians.ts";
import type { Runtime } from "./options.ts";
import { printTable } from "./report.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";
import type { Task } from "./work.ts";

const POINTS = [10, 100, 1000, 10_000];
const OPTIONS = { schemas: ["public"], tenantColumn: "tenant_id", policy: EMPTY_POLICY };
const REPEATS = 5;
const WARM_SECONDS = 5;
const STARTS = 3;
/** Longer than the least time between two readings. */
const PAUSE_MS = 1200;

/** What one reading of the catalogue costs: medians, in milliseconds of CPU and bytes. */
interface ReadingCost {
  readonly postgresMs: number;
  readonly serviceMs: number;
  readonly sent: number;
  readonly received: number;
}

/** What was measured with a number of tables. */
export interface TablesPoint {
  readonly tables: number;
  /** The first reading, one that finds nothing new, and one after a comment on one table. */
  readonly first: ReadingCost;
  readonly unchanged: ReadingCost;
  readonly changed: ReadingCost;
  /** Milliseconds of CPU to build the catalogue from a first reading, and after a comment on one table. */
  readonly buildMs: number;
  readonly rebuildMs: number;
  /** Milliseconds from the start of the process until it is ready. */
  readonly startMs: number;
  /** Bytes of the service: after the start, after three readings, after requests to all tables. */
  readonly memory: readonly number[];
  /** Requests for one row by its key, of one table after the other. */
  readonly turn: Turn;
  /** Bytes of all sessions of Postgres after these. */
  readonly sessions: number;
}

/** How the service is measured. */
export interface TablesOptions {
  readonly runtime: Runtime;
  readonly folder: string;
  readonly seconds: number;
}

/** Measures what the number of tables costs, with tables of twelve columns and two indexes. */
export async function measureTables(
  cluster: Cluster,
  options: TablesOptions,
): Promise<TablesPoint[]> {
  const points: TablesPoint[] = [];
  for (const tables of POINTS) {
    const database = `tables_${tables}`;
    await cluster.make(database, (sql) => fill(sql, tables));
    const readings = await measureReadings(cluster, database);
    const point = { tables, ...readings, ...await measureService(cluster, { ...options, tables }) };
    points.push(point);
    console.log(JSON.stringify(point));
  }
  return points;
}

async function fill(sql: Sql, tables: number): Promise<void> {
  console.log(`making ${tables} tables, once`);
  // So many tables in one transaction would need more locks than there are.
  await sql.unsafe(`do $$ begin
    for n in 1..${tables} loop
      execute format('create table t%s (tenant_id int8 not null, id int8 not null, name text not null,
        email text, company varchar(100), city text, status text, score int4, visits int4,
        list_id int4, amount numeric(12, 2), created_at timestamptz not null default now(),
        primary key (tenant_id, id))', n);
      execute format('create index on t%s (tenant_id, created_at)', n);
      execute format('insert into t%s (tenant_id, id, name)
        select 1, id, ''row '' || id from generate_series(1, 10) id', n);
      execute format('grant select, update on t%s to app', n);
      if n % 100 = 0 then commit; end if;
    end loop;
  end $$`);
  await sql.unsafe("vacuum analyze");
}

async function measureReadings(
  cluster: Cluster,
  database: string,
): Promise<Pick<TablesPoint, "first" | "unchanged" | "changed" | "buildMs" | "rebuildMs">> {
  const sql = postgres(cluster.url(database, "app"), { max: 1 }) as Sql;
  const owner = cluster.connect(database);
  const [row] = await sql`select pg_backend_pid() as pid`;
  const read = (known: Known) => readOnce(sql, row!.pid, known);
  let known = NOTHING_KNOWN;
  const costs: Record<"first" | "unchanged" | "changed", ReadingCost[]> = {
    ...{ first: [], unchanged: [], changed: [] },
  };
  const builds: number[] = [];
  const rebuilds: number[] = [];
  for (let round = 0; round < REPEATS; round++) {
    const first = await read(NOTHING_KNOWN);
    costs.first.push(first.cost);
    const begun = process.cpuUsage();
    const { built } = await buildCatalogue(first.known.introspection, OPTIONS);
    builds.push(sumCpu(process.cpuUsage(begun)));
    known = (await read(first.known)).known;
    costs.unchanged.push((await read(known)).cost);
    await owner.unsafe(`comment on table t1 is 'round ${round}'`);
    const changed = await read(known);
    costs.changed.push(changed.cost);
    const rebuilding = process.cpuUsage();
    await buildCatalogue(changed.known.introspection, OPTIONS, built);
    rebuilds.push(sumCpu(process.cpuUsage(rebuilding)));
  }
  await Promise.all([sql.end(), owner.end()]);
  const { first, unchanged, changed } = costs;
  return {
    first: medianCost(first),
    unchanged: medianCost(unchanged),
    changed: medianCost(changed),
    buildMs: median(builds),
    rebuildMs: median(rebuilds),
  };
}

async function readOnce(
  sql: Sql,
  pid: number,
  known: Known,
): Promise<{ readonly known: Known; readonly cost: ReadingCost }> {
  const [usedByPostgres, serviceStart] = [await countCpuSeconds(pid), process.cpuUsage()];
  const [row] = await introspect(sql, OPTIONS, known);
  const next = addReading(known, JSON.parse(row!.reading) as Reading);
  const serviceMs = sumCpu(process.cpuUsage(serviceStart));
  const postgresMs = await usedByPostgres() * 1000;
  // Three arrays, each element in quotes and with a comma.
  const sent = [...known.tables].reduce(
    (sum, [oid, { state, digest }]) => sum + oid.length + state.length + digest.length + 9,
    0,
  );
  return { known: next, cost: { postgresMs, serviceMs, sent, received: row!.reading.length } };
}

function sumCpu({ user, system }: { readonly user: number; readonly system: number }): number {
  return (user + system) / 1000;
}

function medianCost(costs: readonly ReadingCost[]): ReadingCost {
  const of = (name: keyof ReadingCost) => median(costs.map((cost) => cost[name]));
  return {
    postgresMs: of("postgresMs"),
    serviceMs: of("serviceMs"),
    sent: of("sent"),
    received: of("received"),
  };
}

async function measureService(
  cluster: Cluster,
  { tables, runtime, folder, seconds }: TablesOptions & { readonly tables: number },
): Promise<Pick<TablesPoint, "startMs" | "memory" | "turn" | "sessions">> {
  const database = `tables_${tables}`;
  const databaseUrl = cluster.url(database, "app");
  const tokens = await makeTokens(databaseUrl, [1]);
  const starts: number[] = [];
  let contender: Contender | undefined;
  for (let start = 0; start < STARTS; start++) {
    await contender?.stop();
    const begun = performance.now();
    contender = await startRowgate(runtime, { databaseUrl, folder, tokens });
    starts.push(performance.now() - begun);
  }
  const { pid, ask, stop } = contender!;
  const memory = [await readMemory(pid)];
  const owner = cluster.connect(database);
  for (let reading = 0; reading < 3; reading++) {
    await owner`notify rowgate_catalogue`;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
  await owner.end();
  memory.push(await readMemory(pid));
  const tasks = Array.from({ length: tables }, (_, shape): Task => ({
    ...{ tenant: 1, work: "Q1", kind: "query", shape },
    body: { filters: { and: [{ field: "id", op: "eq", value: 1 + shape % 10 }] } },
  }));
  const asking: Contender = {
    ...contender!,
    ask: (task) => ({ ...ask(task), path: `/integration/tables/t${1 + task.shape}/query` }),
  };
  const file = await writeAsks(asking, tasks, { folder, name: "tables" });
  const asked = { file, concurrency: 16, postgres: cluster.pid };
  await load(asking, { ...asked, seconds: WARM_SECONDS });
  const turn = await load(asking, { ...asked, seconds });
  memory.push(await readMemory(pid));
  const own = await Promise.all((await listChildren(cluster.pid)).map(readOwnMemory));
  const sessions = own.reduce((sum, bytes) => sum + bytes, 0);
  await stop();
  if (turn.errors > 0) throw new Error(`${turn.errors} requests failed`);
  return { startMs: median(starts), memory, turn, sessions };
}

/** Prints what was measured as Markdown: what a reading costs, and what the service does. */
export function printTables(points: readonly TablesPoint[]): string {
  const bytes = (count: number) => (count / 1e3).toFixed(count < 1e4 ? 1 : 0);
  const readings = points.flatMap(({ tables, first, unchanged, changed }) =>
    Object.entries({ first, "nothing new": unchanged, "one table changed": changed })
      .map(([name, { postgresMs, serviceMs, sent, received }]) => [
        ...[tables.toLocaleString("en"), name, postgresMs.toFixed(1), serviceMs.toFixed(1)],
        ...[bytes(sent), bytes(received)],
      ])
  );
  const services = points.map(({ tables, startMs, buildMs, rebuildMs, memory }) => [
    ...[tables.toLocaleString("en"), startMs.toFixed(0)],
    ...[buildMs.toFixed(0), rebuildMs.toFixed(0)],
    ...memory.map((count) => (count / 1e6).toFixed(0)),
  ]);
  const requests = points.map(({ tables, turn, sessions }) => [
    ...[tables.toLocaleString("en"), turn.requestsPerSecond.toFixed(0), turn.p99.toFixed(1)],
    ...[turn.serviceCpu.toFixed(0), turn.postgresCpu.toFixed(0), (sessions / 1e6).toFixed(0)],
  ]);
  const readingHead = ["tables", "reading", "ms Postgres", "ms service", "kB sent", "kB received"];
  const memoryHead = ["MB at start", "MB after readings", "MB after requests"];
  const serviceHead = ["tables", "start ms", "build ms", "again ms", ...memoryHead];
  const requestHead = [
    "tables",
    "requests/s",
    "p99 ms",
    "µs service",
    "µs Postgres",
    "MB sessions",
  ];
  const parts = [
    printTable(readingHead, readings),
    printTable(serviceHead, services),
    printTable(requestHead, requests),
  ];
  return `## tables\n\n${parts.join("\n")}\n`;
}

/** Draws what a reading costs Postgres, and the memory of the service. */
export function pictureTables(points: readonly TablesPoint[]): Picture {
  const values = points.flatMap(({ tables, first, unchanged, memory }) => [
    { x: tables, line: "first", cpu: first.postgresMs, memory: memory[0]! / 1e6 },
    { x: tables, line: "later", cpu: unchanged.postgresMs, memory: memory[2]! / 1e6 },
  ]);
  const charts = [
    { field: "cpu", title: "ms of Postgres for a reading" },
    { field: "memory", title: "MB of the service" },
  ] as const;
  return pictureLines("many_tables", { label: "tables", values, charts });
}
