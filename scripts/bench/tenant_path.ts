/**
 * Compares a table that belongs to another one (`tenant_via`, over one key and over two) with one that has a
 * tenant column of its own: `deno task bench:path [--runtime=deno] [--rounds=3]`. 10^6 rows of 100,000 orders
 * and 100 tenants, one client; the CPU time of the service and of Postgres for a request, medians of the
 * rounds, in which the tables take turns. Writes tenant_path.md into dist/bench.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { Sql } from "../../src/postgres/driver.ts";
import { makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { countCpuSeconds, readTreeCpuSeconds } from "./cpu.ts";
import { median } from "./medians.ts";
import { describeMachine, pick, RUNTIMES } from "./options.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";

const DATABASE = "bench_tenant_path";
const TENANTS = [1, 2, 3, 4];
const ORDERS = 100_000;
const ROWS = 1_000_000;
/** The same rows: with a tenant column, and with one and two foreign keys to a table that has one. */
const TABLES = ["own_lines", "lines", "returns"] as const;
const PARENTS = { own_lines: "order_id", lines: "order_id", returns: "line_id" } as const;
const POLICY = {
  tables: {
    lines: { tenant_via: { columns: ["order_id"], table: "orders" } },
    returns: { tenant_via: { columns: ["line_id"], table: "lines" } },
  },
};

type TableName = typeof TABLES[number];

/** A request of a table; `number` is another one for each. */
interface Work {
  readonly name: string;
  /** Requests of a turn. */
  readonly times: number;
  readonly method: "POST" | "PATCH";
  readonly path: string;
  readonly prefer?: string;
  readonly body: (number: number, table: TableName) => object;
}

const where = (field: string, value: unknown) => ({ and: [{ field, op: "eq", value }] });
const QUERY = { method: "POST", path: "query" } as const;
const BY_KEY = [{ field: "id" }];
const WORKS: readonly Work[] = [
  {
    ...{ name: "a row by its key", times: 2000, ...QUERY, prefer: "count=none" },
    body: (number) => ({ filters: where("id", ownRow(number)) }),
  },
  {
    ...{ name: "the rows of one parent", times: 1000, ...QUERY },
    body: (number, table) => ({
      filters: where(PARENTS[table], parentOf(number, table)),
      sort: BY_KEY,
    }),
  },
  {
    ...{ name: "50 rows in key order", times: 1000, ...QUERY, prefer: "count=none" },
    body: () => ({ sort: BY_KEY }),
  },
  {
    ...{ name: "the total of a tenant, 10,000", times: 500, ...QUERY },
    body: () => ({ per_page: 1 }),
  },
  {
    ...{ name: "an update by key", times: 2000, method: "PATCH", path: "records/single" },
    body: (number) => ({ filters: { id: ownRow(number) }, fields: { amount: number } }),
  },
  {
    ...{ name: "a bulk update of 5,000 rows", times: 4, method: "PATCH", path: "records/bulk" },
    body: (number) => ({ filters: { shelf: 1 }, fields: { amount: number } }),
  },
];

/** CPU time of a request in µs. */
interface Cost {
  readonly service: number;
  readonly postgres: number;
}

const values = readFlags({
  runtime: { type: "string", default: "deno" },
  rounds: { type: "string", default: "3" },
  output: { type: "string", default: "dist/bench" },
});

let requests = 0;
await makeBundle();
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await cluster.copy({ rows: 1000, tenants: 10, spread: "even" }, DATABASE);
  const sql = cluster.connect(DATABASE);
  await fill(sql);
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl, TENANTS);
  const ROWGATE_POLICY = join(folder, "policy.json");
  await writeFile(ROWGATE_POLICY, JSON.stringify(POLICY));
  const [runtime] = pick(values.runtime, RUNTIMES);
  const { address, pid, stop } = await startRowgate(runtime!, {
    ...{ databaseUrl, folder, tokens },
    environment: { ROWGATE_POLICY },
  });
  try {
    const turn = (work: Work, table: TableName) =>
      measure(work, { table, address, tokens, service: pid! });
    const lines = [];
    for (const work of WORKS) {
      const costs = new Map<TableName, Cost[]>(TABLES.map((table) => [table, []]));
      for (const table of TABLES) await turn({ ...work, times: Math.ceil(work.times / 4) }, table);
      for (let round = 0; round < Number(values.rounds); round++) {
        for (const table of TABLES) costs.get(table)!.push(await turn(work, table));
        for (const table of TABLES) await sql.unsafe(`vacuum ${table}`);
      }
      lines.push(printLine(work, [...costs.values()].map(takeMedian)));
      console.log(lines.at(-1));
    }
    await write(runtime!, lines);
  } finally {
    await stop();
    await sql.end();
  }
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

async function fill(sql: Sql): Promise<void> {
  const columns = "shelf int4 not null, amount numeric not null, note text not null";
  const rest = "n % 2, n, 'note of row ' || n";
  for (
    const statement of [
      "create table orders (id int8 primary key, tenant_id int8 not null)",
      `insert into orders select n, 1 + n % 100 from generate_series(1, ${ORDERS}) n`,
      "create index on orders (tenant_id, id)",
      `create table lines (id int8 primary key, order_id int8 not null, ${columns})`,
      `insert into lines select n, ${orderOf("n")}, ${rest} from generate_series(1, ${ROWS}) n`,
      "create index on lines (order_id)",
      "alter table lines add foreign key (order_id) references orders",
      `create table own_lines (id int8 primary key, tenant_id int8 not null, order_id int8 not null, ${columns})`,
      `insert into own_lines select n, 1 + ${orderOf("n")} % 100, ${
        orderOf("n")
      }, ${rest} from generate_series(1, ${ROWS}) n`,
      "create index on own_lines (tenant_id, id)",
      "create index on own_lines (tenant_id, order_id)",
      `create table returns (id int8 primary key, line_id int8 not null, ${columns})`,
      `insert into returns select n, n, ${rest} from generate_series(1, ${ROWS}) n`,
      "create index on returns (line_id)",
      "alter table returns add foreign key (line_id) references lines",
      "grant select, update on orders, lines, own_lines, returns to app",
      "vacuum (freeze, analyze)",
      "checkpoint",
    ]
  ) await sql.unsafe(statement);
}

/** Ten rows for each order, one after the other. */
function orderOf(row: string): string {
  return `(1 + (${row} - 1) / 10)`;
}

/** An order of the tenant that asks, of the thousand that it has. */
function ownOrder(number: number): number {
  const tenant = tenantOf(number);
  return 100 * (1 + number * 7919 % 998) + tenant - 1;
}

function ownRow(number: number): number {
  return (ownOrder(number) - 1) * 10 + 1 + number % 10;
}

function parentOf(number: number, table: TableName): number {
  return table === "returns" ? ownRow(number) : ownOrder(number);
}

function tenantOf(number: number): number {
  return TENANTS[number % TENANTS.length]!;
}

async function measure(
  { method, path, prefer, body, times }: Work,
  { table, address, tokens, service }: {
    readonly table: TableName;
    readonly address: string;
    readonly tokens: ReadonlyMap<number, string>;
    readonly service: number;
  },
): Promise<Cost> {
  const before = await readTreeCpuSeconds(cluster.pid);
  const countService = await countCpuSeconds(service);
  for (let time = 0; time < times; time++) {
    const number = ++requests;
    const response = await fetch(`${address}/integration/tables/${table}/${path}`, {
      method,
      headers: {
        "authorization": `Bearer ${tokens.get(tenantOf(number))}`,
        "content-type": "application/json",
        ...prefer === undefined ? {} : { prefer },
      },
      body: JSON.stringify(body(number, table)),
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${table}: ${response.status} ${text}`);
    if (/"(records":\[\]|updated":0)/.test(text)) throw new Error(`${table}: no row, ${text}`);
  }
  return {
    service: await countService() / times * 1e6,
    postgres: (await readTreeCpuSeconds(cluster.pid) - before) / times * 1e6,
  };
}

function takeMedian(costs: readonly Cost[]): Cost {
  return {
    service: median(costs.map(({ service }) => service)),
    postgres: median(costs.map(({ postgres }) => postgres)),
  };
}

function printLine({ name }: Work, costs: readonly Cost[]): string {
  const round = (number: number) => String(Math.round(number));
  const [own] = costs;
  const cells = costs.flatMap(({ service, postgres }, place) => [
    `${round(service)} + ${round(postgres)}`,
    ...place === 0 ? [] : [((service + postgres) / (own!.service + own!.postgres)).toFixed(2)],
  ]);
  return `| ${[name, ...cells].join(" | ")} |`;
}

async function write(runtime: string, lines: readonly string[]): Promise<void> {
  const report = [
    `${describeMachine()}, ${cluster.version}, Rowgate on ${runtime}; 10^6 rows of 100 tenants, µs of CPU for a`,
    `request, of the service + of Postgres, medians of ${values.rounds} rounds.`,
    "",
    "| work | tenant column | over `orders` | ratio | over two keys | ratio |",
    "| ---- | ------------- | ------------- | ----- | ------------- | ----- |",
    ...lines,
    "",
  ].join("\n");
  await mkdir(values.output, { recursive: true });
  await writeFile(join(values.output, "tenant_path.md"), report);
  console.log(report);
}
