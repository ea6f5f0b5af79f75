/**
 * Shows where a service spends its CPU: `deno run -A scripts/bench/profile.ts node Q1`. Loads it for
 * some seconds and prints the functions with the most time of their own; the profile stays in
 * dist/bench for a viewer.
 */
import { mkdir, mkdtemp, readdir, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { makeBundle } from "../install_packages.ts";
import { startCluster } from "./cluster.ts";
import { SIZE } from "./dataset.ts";
import { load, writeAsks } from "./load.ts";
import { RUNTIMES, WORKS } from "./options.ts";
import { makeTokens, RELEASES, startRowgate } from "./rowgate.ts";
import { makeTasks } from "./work.ts";

/** A CPU profile as the runtimes write it; self time is counted in samples. */
interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: {
      readonly functionName: string;
      readonly url: string;
      readonly lineNumber: number;
    };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const SHOWN = 60;
const SECONDS = 5;

const [runtime = "node", work = "Q1", concurrency = "16"] = process.argv.slice(2);
const folder = await mkdtemp(join(tmpdir(), "rowgate-profile-"));
const output = `dist/bench/profile_${runtime}_${work}`;
await mkdir(output, { recursive: true });
await makeBundle();
const cluster = await startCluster();
try {
  const requests = await run();
  const [file] = (await readdir(output)).filter((name) => name.endsWith(".cpuprofile")).toSorted()
    .slice(-1);
  print(JSON.parse(await readFile(join(output, file!), "utf8")) as Profile, requests);
} finally {
  await cluster.stop();
}
process.exit(0);

async function run(): Promise<number> {
  const name = RUNTIMES.find((one) => one === runtime)!;
  await cluster.copy(SIZE, "bench_profile");
  const databaseUrl = cluster.url("bench_profile", "app");
  const tokens = await makeTokens(databaseUrl);
  const sql = cluster.connect("bench_profile");
  const tasks = await makeTasks(sql, WORKS.find((one) => one === work)!, { seed: 1 });
  const [command = "", ...rest] = RELEASES[name];
  const flags = ["--cpu-prof", `--cpu-prof-dir=${output}`];
  const start = name === "deno" ? [command, "run", ...flags, ...rest.slice(1)] : [
    command,
    ...flags,
    ...rest,
  ];
  const contender = await startRowgate(name, { databaseUrl, folder, tokens, command: start });
  const file = await writeAsks(contender, tasks, { folder, name: work });
  const options = { file, concurrency: Number(concurrency), postgres: cluster.pid };
  const turn = await load(contender, { ...options, seconds: SECONDS });
  console.log(turn);
  await contender.stop();
  await sql.end();
  return turn.requestsPerSecond * SECONDS;
}

function print({ nodes, samples, timeDeltas }: Profile, requests: number): void {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const own = new Map<string, number>();
  samples.forEach((id, index) => {
    const { functionName, url, lineNumber } = frames.get(id)!;
    const place = `${functionName || "(anonymous)"} ${url.split("/").at(-1)}:${lineNumber + 1}`;
    own.set(place, (own.get(place) ?? 0) + (timeDeltas[index] ?? 0));
  });
  for (const [place, time] of [...own].toSorted(([, a], [, b]) => b - a).slice(0, SHOWN)) {
    console.log(`${(time / requests).toFixed(2).padStart(8)} µs a request  ${place}`);
  }
}
