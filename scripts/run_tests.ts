import { spawn } from "node:child_process";
import { mkdtemp, readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { stripVTControlCharacters } from "node:util";
import { type EndedRun, nameStage, RUN_LIMITS, type RunLimits, watchRun } from "./watch_run.ts";

/** How many tests ended how; groups of tests are not counted. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly Failure[];
}

/** A test that failed. */
export interface Failure {
  readonly name: string;
  /** The error and after how many seconds; it may be empty. */
  readonly reason: string;
}

/** What a run of `deno test` is given. */
export interface RunOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Where its report may be written. */
  readonly folder: string;
  /** Stands before the names of those that fail. */
  readonly label: string;
  /** Further words for `deno test`. */
  readonly words: readonly string[];
  /** Ends the run. */
  readonly signal: AbortSignal;
  /** Left out, the usual ones. */
  readonly limits?: RunLimits;
}

/**
 * Optimises only those functions of WebAssembly that run longest, in the tests and in the services that
 * they start on Deno, and none on Bun. Most of these ask an embedded Postgres for seconds only. To
 * optimise as V8 does by default took a fifth of the tests' processor time, and half of what a service
 * needs to start on data that are there; to optimise nothing, a fifth more for the tests of the embedded
 * Postgres.
 */
const OPTIMISE_LITTLE = {
  DENO_V8_FLAGS: "--wasm-tiering-budget=60000000",
  BUN_JSC_useOMGJIT: "false",
};

/** How many files run side by side, unless `DENO_JOBS` says it: some of them wait. */
const JOBS = 5;

/** The long form of the tests takes as long as it is asked to, and a watcher runs until it is stopped. */
const NO_LIMITS: RunLimits = { stuckMs: Infinity, wholeMs: Infinity };

/**
 * Runs `deno test` on the paths and flags, shows what it prints, and counts by its report. A run that
 * hangs is ended: what ran then has failed.
 */
export async function runTests(
  parameters: readonly string[],
  { environment, folder, label, words, signal, limits = chooseLimits(parameters) }: RunOptions,
): Promise<Tally> {
  const report = join(folder, `report-${crypto.randomUUID()}.xml`);
  const options = [
    "test",
    "-A",
    "--parallel",
    "--no-check",
    `--junit-path=${report}`,
    ...words,
  ];
  const progress = await mkdtemp(join(folder, "progress-"));
  const child = spawn(process.execPath, [...options, ...parameters], {
    env: {
      ...process.env,
      ...OPTIMISE_LITTLE,
      DENO_JOBS: process.env.DENO_JOBS ?? String(JOBS),
      ...environment,
      ROWGATE_TEST_PROGRESS: progress,
    },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const end = () => child.kill("SIGTERM");
  signal.addEventListener("abort", end);
  const watch = watchRun(child.pid!, progress, limits);
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  signal.removeEventListener("abort", end);
  const ended = await watch.stop();
  if (ended !== undefined) return countEnded(ended);
  const tally = countCases(await readFile(report, "utf8").catch(() => ""));
  // A file that cannot be loaded has no test that could fail.
  const failures = code !== 0 && tally.failed === 0
    ? [{ name: `deno test ended with ${code}`, reason: "" }]
    : tally.failures;
  return {
    ...tally,
    failed: failures.length,
    failures: failures.map(({ name, reason }) => ({
      name: ON_RUNTIME.test(name) ? name : `${label}: ${name}`,
      reason,
    })),
  };
}

function chooseLimits(parameters: readonly string[]): RunLimits {
  const isWatching = parameters.some((parameter) => /^--watch\b/.test(parameter));
  return isWatching || process.env.ROWGATE_TEST_RUNS !== undefined ? NO_LIMITS : RUN_LIMITS;
}

/** There is no report of a run that was ended. */
function countEnded({ why, ended, running }: EndedRun): Tally {
  const failed = ended.filter((stage) => stage.failed !== undefined);
  const failures = [
    ...failed.map((stage) => ({ name: nameStage(stage), reason: stage.failed ?? "" })),
    ...running.map((stage) => ({
      name: nameStage(stage),
      reason: `still running after ${Math.round(stage.forMs / 1000)} s`,
    })),
    { name: "the run was ended", reason: why },
  ];
  const passed = ended.filter(({ isTest, failed }) => isTest && failed === undefined).length;
  return { passed, failed: failures.length, skipped: 0, failures };
}

/** How the name of a test begins that another runtime serves in the same run: see test/support/bdd.ts. */
const ON_RUNTIME = /^on (?:node|bun|deno|binary): /;

const CASE = /<testcase name="([^"]*)"[^>]* time="([^"]*)"[^>]*>(.*?)<\/testcase>/gs;
const FAILURE = /<failure message="([^"]*)"/;
/** More would hide the other failures. */
const MAX_REASON_CHARACTERS = 1500;
const SEPARATOR = " &gt; ";

/** A name that begins other names (`group > test`) is a group's; a group itself fails in a hook. */
function countCases(report: string): Tally {
  const cases = [...report.matchAll(CASE)];
  const groups = new Set(cases.flatMap(([, name = ""]) => listGroups(name)));
  const failures: Failure[] = [];
  let passed = 0;
  let skipped = 0;
  for (const [, name = "", seconds = "", body = ""] of cases) {
    const reason = FAILURE.exec(body)?.[1];
    const failed = reason !== undefined;
    const isGroup = groups.has(name);
    if (failed && !(isGroup && /^\d+ test steps? failed$/.test(reason))) {
      const text = stripVTControlCharacters(readXml(reason)).slice(0, MAX_REASON_CHARACTERS);
      failures.push({ name: readXml(name), reason: `after ${seconds} s: ${text}` });
    } else if (isGroup || failed) continue;
    else if (body.includes("<skipped")) skipped++;
    else passed++;
  }
  return { passed, failed: failures.length, skipped, failures };
}

function readXml(text: string): string {
  return text.replaceAll("&gt;", ">").replaceAll("&lt;", "<").replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'").replaceAll("&amp;", "&");
}

function listGroups(name: string): string[] {
  const parts = name.split(SEPARATOR);
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join(SEPARATOR));
}

/** Adds up several runs. */
export function addTallies(tallies: readonly Tally[]): Tally {
  const sum = (word: "passed" | "failed" | "skipped") =>
    tallies.reduce((total, tally) => total + tally[word], 0);
  const failures = tallies.flatMap((tally) => tally.failures);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped"), failures };
}
