/**
 * Breaks the database of a service under load in every way that we know, and prints the result:
 * `deno task chaos --minutes=5 --seed=1 --runtime=bun`. Exit code 1 when an acknowledged write
 * is missing, a request hung, or recovery took longer than 2 s.
 */
import process from "node:process";
import { isRuntime } from "../test/support/runtime_server.ts";
import { hasInstalledPostgres } from "../test/support/postgres_binaries.ts";
import { runChaos } from "./chaos/run_chaos.ts";
import { installPackages, makeBinary, makeBundle } from "./install_packages.ts";

const ALLOWED = [200, 201, 404, 409, 503, 504];

const minutes = Number(read("minutes") ?? "5");
const seed = Number(read("seed") ?? Math.floor(Math.random() * 1e9));
const runtime = read("runtime") ?? "deno";
if (!isRuntime(runtime) || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error("usage: deno task chaos [--minutes=5] [--seed=N] [--runtime=deno|bun|node|binary]");
  process.exit(2);
}
if (runtime === "bun" || runtime === "node") await makeBundle();
if (runtime === "binary") await makeBinary();
if (runtime === "bun" || !await hasInstalledPostgres()) await installPackages("test/packages");
console.log(`${runtime}, ${minutes} minutes, --seed=${seed}`);
const result = await runChaos({
  ...{ forMs: minutes * 60_000, seed, runtime },
  report: (line) => console.log(line),
});
const statuses = [...result.byStatus].sort(([one], [other]) => one - other);
console.log(`
requests                 ${result.requests}
by status                ${statuses.map(([status, count]) => `${status}: ${count}`).join(", ")}
acknowledged writes      ${result.acknowledged}
faults                   ${result.faults}
lost                     ${result.lost.length}
hung                     ${result.hung}
worst latency            ${(result.worstMs / 1000).toFixed(1)} s
worst recovery           ${(result.recoveryMs / 1000).toFixed(2)} s
connections              ${result.connections}`);
for (const [error, count] of result.errors) console.log(`${count} without a response: ${error}`);
for (const difference of result.lost) console.log(difference);
const passed = result.lost.length === 0 && result.hung === 0 && result.recoveryMs < 2000 &&
  statuses.every(([status]) => ALLOWED.includes(status));
process.exit(passed ? 0 : 1);

function read(name: string): string | undefined {
  const prefix = `--${name}=`;
  const at = process.argv.indexOf(`--${name}`);
  if (at >= 0) return process.argv[at + 1];
  return process.argv.find((parameter) => parameter.startsWith(prefix))?.slice(prefix.length);
}
