/**
 * Measures whether a request ever gets a bad plan: ten shapes of query on five shapes of data of
 * 1,000,000 rows each. Rowgate, on a session that has served 1,000 mixed requests, beside the same
 * statements with forced custom and with forced generic plans, and beside SQL written by hand with
 * literal values. `deno task bench:grid [--only=shape] [--data=even,one_large] [--output=folder]`.
 * @see docs/performance/plans.md
 */
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import type { Sql } from "../../src/postgres/driver.ts";
import { startCluster } from "./cluster.ts";
import { type GridContender, openLiteral, openService } from "./grid_contenders.ts";
import { GRID_DATA, makeGridDatabase } from "./grid_data.ts";
import { excessOf, type GridTimes, printGrid } from "./grid_report.ts";
import { GRID_SHAPES, type GridTenant, type Variant } from "./grid_shapes.ts";
import { describeMachine } from "./options.ts";
import { readFlags } from "./read_flags.ts";

/** Highest multiple of the best other time. */
const LIMIT = 1.5;
const WARM_REQUESTS = 1000;
const SMALL_TENANT = 3;
/** A request is repeated until it took so long in all, but at least and at most so often. */
const [MIN_ROUNDS, MAX_ROUNDS, ENOUGH_MS] = [4, 12, 100];

const values = readFlags({
  only: { type: "string", default: "" },
  data: { type: "string", default: GRID_DATA.map(({ name }) => name).join(",") },
  output: { type: "string", default: "dist/bench" },
});
const shapes = GRID_SHAPES.filter(({ name }) => name.includes(values.only));
const data = GRID_DATA.filter(({ name }) => values.data.split(",").includes(name));
const cluster = await startCluster();
try {
  const name = await makeGridDatabase(cluster);
  const admin = cluster.connect(name);
  // Plans are compared by their work: more processes would only take the processors from others.
  await admin.unsafe(`alter database ${name} set max_parallel_workers_per_gather = 0`);
  const all: GridTimes[] = [];
  for (const table of data) {
    all.push(...await measureTable(table.name, admin, name));
    console.log(
      `${table.name}: ${all.filter((one) => excessOf(one) > LIMIT).length} above ${LIMIT}`,
    );
  }
  await admin.end();
  await mkdir(values.output, { recursive: true });
  const report = `${describeMachine()}, ${cluster.version}\n\n${printGrid(all, LIMIT)}`;
  await writeFile(join(values.output, "grid.json"), `${JSON.stringify(all, null, 1)}\n`);
  await writeFile(join(values.output, "grid.md"), report);
  console.log(`\n${report}\nin ${values.output}`);
} finally {
  await cluster.stop();
}
process.exit(0);

async function measureTable(table: string, admin: Sql, database: string): Promise<GridTimes[]> {
  const large = await readTenant(admin, table, 1);
  const small = await readTenant(admin, table, SMALL_TENANT);
  await admin.unsafe(`select count(note) from ${table}`);
  const url = cluster.url(database, "app");
  const rowgate = await openService(url, { name: "rowgate" });
  await warm(rowgate, table, [small, small, small, large]);
  const contenders = [
    rowgate,
    await openService(url, { name: "custom", mode: "custom" }),
    await openService(url, { name: "generic", mode: "generic" }),
    openLiteral(cluster.connect(database)),
  ];
  const all: GridTimes[] = [];
  for (const shape of shapes) {
    for (const variant of shape.ask(large, 0.37)) {
      const times = await measure(contenders, table, variant);
      all.push({ shape: shape.name, data: table, variant: variant.name, times });
    }
  }
  await Promise.all(contenders.map(({ stop }) => stop()));
  return all;
}

/** Sends mixed requests, most of them of a small tenant, so that the session has settled on its plans. */
async function warm(
  { ask }: GridContender,
  table: string,
  tenants: readonly GridTenant[],
): Promise<void> {
  for (let index = 0; index < WARM_REQUESTS; index++) {
    const part = (index + 1) * 0.618033988749895 % 1;
    // The large tenant has its turn, but not with everything, which would take minutes.
    const tenant = index % 20 === 0 ? tenants.at(-1)! : tenants[index % (tenants.length - 1)]!;
    const shape = GRID_SHAPES[index % GRID_SHAPES.length]!;
    const variants = shape.ask(tenant, part);
    const variant = variants[Math.floor(index / GRID_SHAPES.length) % variants.length]!;
    await ask(table, tenant.tenant, variant);
  }
}

/**
 * Gives the shortest time of each contender. A request above the limit is measured once more, and the
 * second time counts: one lucky round of another contender is enough to put it above.
 */
async function measure(
  contenders: readonly GridContender[],
  table: string,
  variant: Variant,
): Promise<Record<string, number>> {
  const times = await measureOnce(contenders, table, variant);
  return excessOf({ times }) > LIMIT ? await measureOnce(contenders, table, variant) : times;
}

/**
 * Measures in rounds, so that what disturbs one contender disturbs all. The order rotates, because the
 * SQL of one may read the whole table, which fills the caches of the processor before the next one.
 */
async function measureOnce(
  contenders: readonly GridContender[],
  table: string,
  variant: Variant,
): Promise<Record<string, number>> {
  const times: Record<string, number> = {};
  const answers = new Set<string>();
  let spentMs = 0;
  for (let rounds = 0; rounds < MAX_ROUNDS; rounds++) {
    if (rounds >= MIN_ROUNDS && spentMs > ENOUGH_MS) break;
    const first = rounds % contenders.length;
    for (const { name, ask } of [...contenders.slice(first), ...contenders.slice(0, first)]) {
      const startedMs = performance.now();
      const { total, records } = await ask(table, 1, variant);
      const ms = performance.now() - startedMs;
      spentMs += ms;
      times[name] = Math.min(times[name] ?? Infinity, ms);
      if (variant.body.sort !== undefined) {
        answers.add(`${total} ${JSON.stringify(JSON.parse(records))}`);
      }
    }
  }
  if (answers.size > 1) throw new Error(`${table}, ${variant.name}: the answers differ`);
  return times;
}

/** Reads 1,000 rows of a tenant, spread evenly over its ids. */
async function readTenant(admin: Sql, table: string, tenant: number): Promise<GridTenant> {
  const rows = await admin.unsafe<{ id: number; at: string; rows: number }[]>(
    `select id::float8 id, "rows"::float8 "rows", to_char(modified_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') at
    from (
      select id, modified_at, row_number() over (order by id) as place, count(*) over () as "rows"
      from ${table} where tenant_id = ${tenant}
    ) numbered
    where place % greatest(1, "rows" / 1000) = 0 order by id limit 1000`,
  );
  return {
    tenant,
    rows: rows[0]!.rows,
    ids: rows.map(({ id }) => id),
    times: rows.map(({ at }) => at),
  };
}
