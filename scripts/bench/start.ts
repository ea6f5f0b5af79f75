/**
 * Measures from the start of the process to its first answer against a real Postgres:
 * `deno task bench:start`. Targets: 400 ms on Deno, 300 ms on Bun. Also measures the binary.
 */
import process from "node:process";
import { COMMANDS } from "../../test/support/runtime_server.ts";
import { makeBinary, makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { SIZE } from "./dataset.ts";
import { findFreePort, launch } from "./processes.ts";
import { printTable } from "./report.ts";
import { makeTokens, RELEASES } from "./rowgate.ts";

const DATABASE = "bench_start";
const STARTS = 9;
const POLL_MS = 2;
const BODY = JSON.stringify({ filters: { and: [{ field: "id", op: "eq", value: 7 }] } });

await makeBundle();
await makeBinary();
const cluster = await startCluster();
try {
  await cluster.copy(SIZE, DATABASE);
  const databaseUrl = cluster.url(DATABASE, "app");
  const token = (await makeTokens(databaseUrl, [1])).get(1)!;
  const rows: string[][] = [];
  for (const [name, command] of Object.entries({ ...RELEASES, binary: COMMANDS.binary })) {
    const times: number[] = [];
    for (let number = 0; number < STARTS; number++) {
      times.push(await start(command, { databaseUrl, token }));
    }
    times.sort((a, b) => a - b);
    rows.push([name, ...[0, 4, 8].map((place) => times[place]!.toFixed(0))]);
  }
  console.log(printTable(["runtime", "fastest ms", "median ms", "slowest ms"], rows));
} finally {
  await cluster.stop();
}
process.exit(0);

async function start(
  command: readonly string[],
  { databaseUrl, token }: { readonly databaseUrl: string; readonly token: string },
): Promise<number> {
  const port = await findFreePort();
  const started = performance.now();
  const environment = { DATABASE_URL: databaseUrl, PORT: String(port) };
  const child = launch([...command, "serve"], { environment });
  const headers = { "Authorization": `Bearer ${token}`, "Content-Type": "application/json" };
  const url = `http://127.0.0.1:${port}/integration/tables/contacts/query`;
  for (;;) {
    const answer = await fetch(url, { method: "POST", headers, body: BODY }).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer?.status === 200) break;
    if (child.exitCode() !== null) throw new Error(child.errorOutput());
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const time = performance.now() - started;
  await child.stop();
  return time;
}
