/**
 * Breaks the database of a service under load in every way there is, and prints what came of it:
 * `deno task chaos --minutes=5 --seed=1 --runtime=bun`. Ends with 1 when anything acknowledged is
 * missing, anything hung, or it took longer than 2 s to be well again.
 */
import process from "node:process";
import { isRuntime } from "../test/support/runtime_server.ts";
import { hasInstalledPostgres } from "../test/support/postgres_binaries.ts";
import { runChaos } from "./chaos/run_chaos.ts";
import { installPackages, makeBinary, makeBundle } from "./install_packages.ts";

const ALLOWED = [200, 404, 409, 503, 504];

const minutes = Number(read("minutes") ?? "5");
const seed = Number(read("seed") ?? Math.floor(Math.random() * 1e9));
const runtime = read("runtime") ?? "deno";
if (!isRuntime(runtime) || !(minutes > 0) || !Number.isInteger(seed)) {
  console.error("usage: deno task chaos [--minutes=5] [--seed=N] [--runtime=deno|bun|node|binary]");
  process.exit(2);
}
if (runtime === "node") await makeBundle();
if (runtime === "binary") await makeBinary();
if (runtime === "bun" || !await hasInstalledPostgres()) await installPackages("test/packages");
console.log(`${runtime}, ${minutes} minutes, --seed=${seed}`);
const figures = await runChaos({
  ...{ forMs: minutes * 60_000, seed, runtime },
  tell: (line) => console.log(line),
});
const statuses = [...figures.byStatus].sort(([one], [other]) => one - other);
console.log(`
requests                 ${figures.requests}
by status                ${statuses.map(([status, count]) => `${status}: ${count}`).join(", ")}
acknowledged writes      ${figures.acknowledged}
faults                   ${figures.faults}
lost                     ${figures.lost.length}
hung                     ${figures.hung}
worst latency            ${(figures.worstMs / 1000).toFixed(1)} s
well again, worst        ${(figures.recoveryMs / 1000).toFixed(2)} s
connections              ${figures.connections}`);
for (const [error, count] of figures.errors) console.log(`${count} without an answer: ${error}`);
for (const difference of figures.lost) console.log(difference);
const isWell = figures.lost.length === 0 && figures.hung === 0 && figures.recoveryMs < 2000 &&
  statuses.every(([status]) => ALLOWED.includes(status));
process.exit(isWell ? 0 : 1);

function read(name: string): string | undefined {
  const prefix = `--${name}=`;
  const at = process.argv.indexOf(`--${name}`);
  if (at >= 0) return process.argv[at + 1];
  return process.argv.find((parameter) => parameter.startsWith(prefix))?.slice(prefix.length);
}
