/**
 * Runs the generated attacks in their long form, against a server on each runtime: `--runs=10000` random
 * filters against the oracle, and as many cases of the other laws as take about as long. `--seed=42`
 * repeats a run, `--runtime=node` uses only one runtime.
 */
import { spawn } from "node:child_process";
import process from "node:process";
import { RUNTIMES } from "../test/support/runtime_server.ts";

/** The tests, and for how many of `--runs` one case of them counts. */
const ATTACKS: readonly (readonly [worth: number, ...paths: string[]])[] = [
  [5, "test/property/filter_oracle.test.ts"],
  [4, "test/property/one_fault.test.ts"],
  [
    40,
    "test/property/every_node.test.ts",
    "test/property/single_and_bulk.test.ts",
    "test/property/hostile.test.ts",
  ],
  [10, "test/integration/records/history.test.ts"],
];

const runs = Number(read("runs") ?? 10_000);
const seed = read("seed") ?? String(Math.floor(Math.random() * 0x7fffffff));
const chosen = read("runtime");
console.log(`--runs=${runs} --seed=${seed}`);
let failed = false;
for (const runtime of chosen === undefined ? RUNTIMES : [chosen]) {
  for (const [worth, ...paths] of ATTACKS) {
    const cases = Math.ceil(runs / worth);
    console.log(`\n${cases} cases on ${runtime}: ${paths.join(" ")}\n`);
    if (!await runTests(paths, { runtime, cases })) failed = true;
  }
}
process.exit(failed ? 1 : 0);

function read(name: string): string | undefined {
  return process.argv.find((text) => text.startsWith(`--${name}=`))?.split("=")[1];
}

async function runTests(
  paths: readonly string[],
  { runtime, cases }: { runtime: string; cases: number },
): Promise<boolean> {
  const parameters = ["run", "-A", "scripts/test.ts", ...paths, `--runtime=${runtime}`];
  const env = { ...process.env, ROWGATE_TEST_RUNS: String(cases), ROWGATE_TEST_SEED: seed };
  const child = spawn("deno", parameters, { stdio: "inherit", env });
  return await new Promise((resolve) => child.once("close", (code) => resolve(code === 0)));
}
