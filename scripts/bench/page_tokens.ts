/**
 * Measures what a deep page costs by page token and by number: `deno task bench:tokens
 * [--runtimes=deno] [--depth=10000] [--turns=200]`. One tenant has 10^6 rows. For each sort one client
 * reads page after page of 50 by page token, up to the depth, and checks that no row comes twice; then
 * the first page and the deep one are requested in turns. Writes page_tokens.md into dist/bench: the time
 * that the client waits, and the CPU time of Postgres, which other work on the machine disturbs less.
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { readChildrenCpuSeconds } from "./cpu.ts";
import { SIZE } from "./dataset.ts";
import { describeMachine, pick, RUNTIMES } from "./options.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";

const DATABASE = "bench_page_tokens";
const PER_PAGE = 50;
/** Orders with and without ties and mixed directions; all have an index. */
const SORTS: Readonly<Record<string, readonly { field: string; direction?: string }[]>> = {
  "key": [],
  "time": [{ field: "created_at" }],
  "time, descending": [{ field: "created_at", direction: "desc" }],
  "ties of 100, descending": [{ field: "list_id", direction: "desc" }],
};

const values = readFlags({
  runtimes: { type: "string", default: "deno" },
  depth: { type: "string", default: "10000" },
  turns: { type: "string", default: "200" },
  output: { type: "string", default: "dist/bench" },
});
const depth = Number(values.depth);
const turns = Number(values.turns);

/** What one page costs. */
interface Cost {
  /** What the client waits, in ms, the median. */
  readonly wall: number;
  /** CPU time of Postgres in ms, the mean. */
  readonly postgres: number;
}

/** The costs of one sort. */
interface Row {
  readonly runtime: string;
  readonly sort: string;
  /** Page 1 by number, as it was before there were page tokens. */
  readonly plain: Cost;
  readonly first: Cost;
  readonly deep: Cost;
  readonly numbered: Cost;
}

/** Requests of one kind in a turn: CPU time is read before and after them. */
const IN_TURN = 20;

await makeBundle();
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await cluster.copy({ ...SIZE, tenants: 1, spread: "even" }, DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl, [1]);
  const rows: Row[] = [];
  for (const runtime of pick(values.runtimes, RUNTIMES)) {
    const { address, stop } = await startRowgate(runtime, { databaseUrl, folder, tokens });
    try {
      for (const sort of Object.keys(SORTS)) {
        const row = await measure(openReader(address, tokens.get(1)!, sort), { runtime, sort });
        console.log(printRow(row));
        rows.push(row);
      }
    } finally {
      await stop();
    }
  }
  await write(rows);
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);

interface Read {
  readonly ids: readonly number[];
  /** The address of the next page. */
  readonly next: string | undefined;
}

interface Reader {
  readonly first: string;
  readonly read: (path: string, body?: Readonly<Record<string, unknown>>) => Promise<Read>;
}

function openReader(address: string, token: string, sort: string): Reader {
  async function read(path: string, more: Readonly<Record<string, unknown>> = {}): Promise<Read> {
    const response = await fetch(`${address}${path}`, {
      method: "POST",
      headers: {
        "authorization": `Bearer ${token}`,
        "content-type": "application/json",
        "prefer": "page" in more ? "count=none" : "count=none, page-token",
      },
      body: JSON.stringify({ sort: SORTS[sort], per_page: PER_PAGE, ...more }),
    });
    const { records, error } = await response.json();
    if (response.status !== 200) throw new Error(error);
    const next = /<([^>]+)>/.exec(response.headers.get("link") ?? "")?.[1];
    return { ids: records.map(({ id }: { id: number }) => id), next };
  }
  return { first: "/integration/tables/contacts/query", read };
}

async function measure(
  { first, read }: Reader,
  { runtime, sort }: Pick<Row, "runtime" | "sort">,
): Promise<Row> {
  const seen = new Set<number>();
  let path = first;
  for (let page = 1; page < depth; page++) {
    const { ids, next } = await read(path);
    ids.forEach((id) => seen.add(id));
    if (next === undefined) throw new Error(`${sort}: page ${page} is the last one`);
    path = next;
  }
  if (seen.size !== (depth - 1) * PER_PAGE) throw new Error(`${sort}: a row came twice`);
  const numbered = (page: number) => read(first, { page, sort: numberedSort(sort) });
  const meters = {
    plain: openMeter(() => numbered(1)),
    first: openMeter(() => read(first)),
    deep: openMeter(() => read(path)),
    numbered: openMeter(() => numbered(depth)),
  };
  for (let turn = 0; turn < turns; turn += IN_TURN) {
    await meters.plain.run(IN_TURN);
    await meters.first.run(IN_TURN);
    await meters.deep.run(IN_TURN);
    await meters.numbered.run(1);
  }
  return {
    runtime,
    sort,
    plain: meters.plain.cost(),
    first: meters.first.cost(),
    deep: meters.deep.cost(),
    numbered: meters.numbered.cost(),
  };
}

/** Measures one kind of request, some at a time. */
interface Meter {
  readonly run: (times: number) => Promise<void>;
  readonly cost: () => Cost;
}

function openMeter(request: () => Promise<unknown>): Meter {
  const walls: number[] = [];
  let postgres = 0;
  return {
    async run(times) {
      const before = await readChildrenCpuSeconds(cluster.pid);
      for (let n = 0; n < times; n++) {
        const began = performance.now();
        await request();
        walls.push(performance.now() - began);
      }
      postgres += await readChildrenCpuSeconds(cluster.pid) - before;
    },
    cost: () => ({ wall: median(walls), postgres: postgres * 1000 / walls.length }),
  };
}

/** A page by number has no order without a sort. */
function numberedSort(sort: string): unknown {
  return SORTS[sort]!.length === 0 ? [{ field: "id" }] : SORTS[sort];
}

function median(list: readonly number[]): number {
  return list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]!;
}

function printRow({ runtime, sort, plain, first, deep, numbered }: Row): string {
  const pages = [plain, first, deep, numbered].map(({ wall, postgres }) =>
    `${printMs(wall)}, ${printMs(postgres)}`
  );
  const ratios = [deep.wall / first.wall, deep.postgres / first.postgres];
  return [runtime, sort, ...pages, ratios.map((ratio) => ratio.toFixed(2)).join(", ")].join(" | ");
}

function printMs(ms: number): string {
  return ms.toPrecision(ms < 10 ? 2 : 3);
}

async function write(rows: readonly Row[]): Promise<void> {
  const head = ["on", "sort", "page 1", "with token", "by token", "by number", "×"];
  const report = [
    `${describeMachine()}, ${cluster.version}; page ${depth}; one client, ${turns} requests`,
    "",
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows.map((row) => `| ${printRow(row)} |`),
    "",
  ].join("\n");
  await mkdir(values.output, { recursive: true });
  await writeFile(join(values.output, "page_tokens.md"), report);
  console.log(report);
}
