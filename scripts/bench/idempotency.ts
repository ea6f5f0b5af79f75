/**
 * Measures what an `Idempotency-Key` costs a single update by key:
 * `deno run -A scripts/bench/idempotency.ts [--runtimes=deno,bun,node] [--clients=1,16] [--rounds=15]`.
 * Updates with and without a key take turns, in rounds of 400. Prints medians of the rounds, ms, and the
 * CPU of Postgres and of the service for each update, µs; the ratios are what counts. Commits wait for the
 * disk, as they do by default; with `--commit=off` they do not.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { installPackages, makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { countCpuSeconds, readTreeCpuSeconds } from "./cpu.ts";
import { median } from "./medians.ts";
import { describeMachine, pick, RUNTIMES } from "./options.ts";
import { readFlags } from "./read_flags.ts";
import { makeTokens, startRowgate } from "./rowgate.ts";

const DATABASE = "bench_idempotency";
const SIZE = { rows: 20_000, tenants: 10, spread: "even" } as const;
const TENANT = 1;
const UPDATES = 400;
const WAYS = ["plain", "keyed"] as const;

const values = readFlags({
  runtimes: { type: "string", default: RUNTIMES.join(",") },
  clients: { type: "string", default: "1,16" },
  rounds: { type: "string", default: "15" },
  commit: { type: "string", default: "on" },
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
  await (values.commit === "off"
    ? sql`alter database bench_idempotency set synchronous_commit = off`
    : sql`alter database bench_idempotency set synchronous_commit = on`);
  const ids = (await sql`select id from contacts where tenant_id = ${TENANT}
    order by id limit ${UPDATES}`).map(({ id }) => Number(id));
  console.log(`${describeMachine()}; single updates by key without and with an Idempotency-Key`);
  for (const runtime of pick(values.runtimes, RUNTIMES)) {
    const { address, pid, stop } = await startRowgate(runtime, { databaseUrl, folder, tokens });
    const update = async (id: number, name: string, isKeyed: boolean) => {
      const response = await fetch(`${address}/integration/tables/contacts/records/single`, {
        method: "PATCH",
        headers: {
          authorization: `Bearer ${tokens.get(TENANT)}`,
          "content-type": "application/json",
          ...(isKeyed && { "idempotency-key": `"${crypto.randomUUID()}"` }),
        },
        body: JSON.stringify({ filters: { id }, fields: { name } }),
      });
      if (!response.ok) throw new Error(await response.text());
      await response.text();
    };
    for (const clients of values.clients.split(",").map(Number)) {
      const seen = WAYS.map(() => ({ ms: [] as number[], postgres: 0, service: 0 }));
      // The first round warms the server and does not count.
      for (let round = 0; round <= Number(values.rounds); round++) {
        const turns = round % 2 === 0 ? [0, 1] : [1, 0];
        for (const way of turns) {
          await sql`vacuum contacts, rowgate.idempotency_keys`;
          const postgresBefore = await readTreeCpuSeconds(cluster.pid);
          const countService = await countCpuSeconds(pid!);
          const started = performance.now();
          const left = [...ids];
          await Promise.all(Array.from({ length: clients }, async () => {
            for (let id = left.pop(); id !== undefined; id = left.pop()) {
              await update(id, `${WAYS[way]} ${clients} ${round}`, way === 1);
            }
          }));
          if (round === 0) continue;
          const { ms } = seen[way]!;
          ms.push(performance.now() - started);
          seen[way]!.postgres += await readTreeCpuSeconds(cluster.pid) - postgresBefore;
          seen[way]!.service += await countService();
        }
      }
      const all = UPDATES * Number(values.rounds);
      const compare = (name: string, read: (of: typeof seen[number]) => number) => {
        const [plain, keyed] = seen.map(read);
        return `${name} ${plain!.toFixed(0)} and ${keyed!.toFixed(0)} (${
          (keyed! / plain!).toFixed(2)
        })`;
      };
      console.log(
        `${runtime}, ${clients} clients: ${compare("ms", ({ ms }) => median(ms))}, ` +
          `${compare("Postgres", ({ postgres }) => 1e6 * postgres / all)}, ` +
          compare("service", ({ service }) => 1e6 * service / all),
      );
    }
    await stop();
  }
  await sql.end();
} finally {
  await cluster.stop();
  await rm(folder, { recursive: true, force: true });
}
process.exit(0);
