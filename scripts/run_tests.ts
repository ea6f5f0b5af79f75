import { spawn } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";

/** How many tests ended how; groups of tests are not counted. */
export interface Tally {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** What a run of `deno test` is given. */
export interface RunOptions {
  readonly environment: Readonly<Record<string, string>>;
  /** Where its report may be written. */
  readonly folder: string;
}

/** Runs `deno test` on the paths and flags, shows what it prints, and counts by its report. */
export async function runTests(
  parameters: readonly string[],
  { environment, folder }: RunOptions,
): Promise<Tally> {
  const report = join(folder, `report-${crypto.randomUUID()}.xml`);
  const options = ["test", "-A", "--parallel", "--no-check", `--junit-path=${report}`];
  const child = spawn(process.execPath, [...options, ...parameters], {
    env: { ...process.env, DENO_JOBS: process.env.DENO_JOBS ?? "3", ...environment },
    stdio: ["ignore", "inherit", "inherit"],
  });
  const code = await new Promise<number | null>((resolve) => child.once("close", resolve));
  const tally = countCases(await readFile(report, "utf8").catch(() => ""));
  // A file that could not be loaded has no test that could have failed.
  return code !== 0 && tally.failed === 0 ? { ...tally, failed: 1 } : tally;
}

const CASE = /<testcase name="([^"]*)"[^>]*>(.*?)<\/testcase>/gs;
const SEPARATOR = " &gt; ";

/** A name that begins other names (`group > test`) is a group's; it fails by itself in a hook. */
function countCases(report: string): Tally {
  const cases = [...report.matchAll(CASE)];
  const groups = new Set(cases.flatMap(([, name = ""]) => listGroups(name)));
  const tally = { passed: 0, failed: 0, skipped: 0 };
  for (const [, name = "", body = ""] of cases) {
    const failed = body.includes("<failure");
    if (groups.has(name)) {
      if (failed && !/message="\d+ test steps? failed"/.test(body)) tally.failed++;
      continue;
    }
    if (failed) tally.failed++;
    else if (body.includes("<skipped")) tally.skipped++;
    else tally.passed++;
  }
  return tally;
}

function listGroups(name: string): string[] {
  const parts = name.split(SEPARATOR);
  return parts.slice(1).map((_, at) => parts.slice(0, at + 1).join(SEPARATOR));
}

/** Adds up. */
export function addTallies(tallies: readonly Tally[]): Tally {
  const sum = (word: keyof Tally) => tallies.reduce((total, tally) => total + tally[word], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}
