/**
 * Puts mixed load on a server in a process of its own for a long time, to see whether anything grows:
 * `deno task soak --minutes=60 --runtime=deno --seed=1`. Exit code 1 when something does. `--rate=100`
 * limits the requests a second, to run beside other work.
 */
import process from "node:process";
import { isRuntime } from "../test/support/runtime_server.ts";
import { createTestService } from "../test/support/service.ts";
import { startCluster } from "../test/support/cluster.ts";
import { makeTemplates } from "../test/support/templates.ts";
import { installPackages, makeBinary, makeBundle } from "./install_packages.ts";
import { checkSoak, compareQuarters, STRICT } from "./soak/check_soak.ts";
import { runSoak, type SoakRun } from "./soak/run_soak.ts";

const DEFAULT_MINUTES = "60";

const runtime = readOption("runtime") ?? "deno";
const minutes = Number(readOption("minutes") ?? DEFAULT_MINUTES);
const seed = Number(readOption("seed") ?? Date.now() % 1_000_000);
const rate = Number(readOption("rate") ?? Infinity);
const USAGE = "soak [--minutes=60] [--runtime=deno|bun|node|binary] [--rate=100] [--seed=1]";
if (process.argv.includes("--help")) {
  console.log(USAGE);
  process.exit(0);
}
if (!isRuntime(runtime) || !(minutes > 0) || !(rate > 0) || !Number.isInteger(seed)) {
  console.error(USAGE);
  process.exit(2);
}
if (runtime === "bun" || runtime === "node") await makeBundle();
if (runtime === "binary") await makeBinary();
await installPackages("test/packages");
const cluster = await startCluster();
let problems: readonly string[] = ["it did not run"];
try {
  await makeTemplates(cluster.url);
  process.env.ROWGATE_TEST_CLUSTER = cluster.url;
  process.env.ROWGATE_TEST_FOLDER = cluster.folder;
  const environment = { ROWGATE_POOL_SIZE: "10" };
  const service = await createTestService("real", { runtime, environment });
  console.log(`${minutes} minutes on ${runtime}, seed ${seed}`);
  try {
    const run = await runSoak(service, { seconds: minutes * 60, seed, rate });
    problems = checkSoak(run, STRICT);
    print(run);
  } finally {
    await service.close();
  }
} finally {
  await cluster.stop();
}
for (const problem of problems) console.log(`not flat: ${problem}`);
console.log(problems.length === 0 ? "flat" : `${problems.length} problems; seed ${seed}`);
process.exit(problems.length === 0 ? 0 : 1);

function readOption(name: string): string | undefined {
  const prefix = `--${name}=`;
  return process.argv.find((parameter) => parameter.startsWith(prefix))?.slice(prefix.length);
}

function print({ responses, hung, worstMs, samples, last }: SoakRun): void {
  const total = [...responses.values()].reduce((sum, count) => sum + count, 0);
  console.log(`requests: ${total}, hung: ${hung}, worst: ${Math.round(worstMs)} ms`);
  for (const [key, count] of [...responses].sort()) console.log(`  ${key}: ${count}`);
  console.log("median of the second and of the last quarter:");
  for (const [name, { second, last }] of Object.entries(compareQuarters(samples))) {
    console.log(`  ${name}: ${second.toFixed(1)} ${last.toFixed(1)}`);
  }
  const slowest = Math.max(...samples.map(({ livezMs }) => livezMs));
  console.log(`slowest /livez: ${Math.round(slowest)} ms`);
  console.log(`after the load: ${JSON.stringify(last)}`);
}
