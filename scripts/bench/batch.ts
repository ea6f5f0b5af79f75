/**
 * Measures a batch of 200 single updates beside 200 requests of one update each, from one client:
 * `deno run -A scripts/bench/batch.ts [--runtimes=deno,bun,node] [--rounds=9]`. Both change the same
 * rows by their key, in turns, on one connection. Prints medians, and how many times as fast the batch is.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { MAX_BATCH_UPDATES } from "../../src/errors/limits.ts";
import { installPackages, makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { median } from "./medians.ts";
import { describeMachine, pick, RUNTIMES } from "./options.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";

const DATABASE = "bench_batch";
const SIZE = { rows: 20_000, tenants: 10, spread: "even" } as const;
const TENANT = 1;

const values = readFlags({
  runtimes: { type: "string", default: RUNTIMES.join(",") },
  rounds: { type: "string", default: "9" },
});

await makeBundle();
await installPackages("test/packages");
const folder = await mkdtemp(join(tmpdir(), "rowgate-bench-run-"));
const cluster = await startCluster();
try {
  await cluster.copy(SIZE, DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const tokens = await makeTokens(databaseUrl, [TENANT]);
  const sql = cluster.connect(DATABASE);
  const ids = (await sql`select id from contacts where tenant_id = ${TENANT}
    order by id limit ${MAX_BATCH_UPDATES}`).map(({ id }) => Number(id));
  await sql.end();
  console.log(`${describeMachine()}; ${MAX_BATCH_UPDATES} updates by key, ms`);
  for (const runtime of pick(values.runtimes, RUNTIMES)) {
    const { address, stop } = await startRowgate(runtime, { databaseUrl, folder, tokens });
    const update = async (how: string, body: unknown) => {
      const response = await fetch(`${address}/integration/tables/contacts/records/${how}`, {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${tokens.get(TENANT)}`,
          "content-type": "application/json",
        },
        body: JSON.stringify(body),
      });
      if (!response.ok) throw new Error(await response.text());
      await response.text();
    };
    const times = { single: [] as number[], batch: [] as number[] };
    // The first round warms the server and does not count.
    for (let round = 0; round <= Number(values.rounds); round++) {
      const make = (how: string) =>
        ids.map((id) => ({ filters: { id }, fields: { name: `${how} ${round}` } }));
      const singles = make("single");
      const started = performance.now();
      for (const body of singles) await update("single", body);
      const between = performance.now();
      await update("batch", { updates: make("batch") });
      if (round === 0) continue;
      times.single.push(between - started);
      times.batch.push(performance.now() - between);
    }
    await stop();
    const [single, batch] = [median(times.single), median(times.batch)];
    const shown = [single, batch].map((ms) => ms.toFixed(1)).join(" and ");
    console.log(`${runtime}: ${shown}, ${(single / batch).toFixed(1)} times as fast`);
  }
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
