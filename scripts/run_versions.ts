import { spawn } from "node:child_process";
import process from "node:process";
import { hasVersion } from "../test/support/postgres_binaries.ts";
import { installPackages } from "./install_packages.ts";

/** Runs of the tests on several major versions of Postgres. */
export interface VersionsCommand {
  readonly majors: readonly string[];
  /** What each run is given. */
  readonly parameters: readonly string[];
}

const OPTION = "--postgres=";
/** What runs when no path is given. */
const PATHS = ["test/conformance"];

/**
 * Reads `--postgres=14,18`; undefined when it is not among the parameters.
 * @throws {Error} when it names no versions
 */
export function readVersions(parameters: readonly string[]): VersionsCommand | undefined {
  const option = parameters.find((word) => word.startsWith(OPTION));
  if (option === undefined) return undefined;
  const majors = option.slice(OPTION.length).split(",");
  if (majors.some((major) => !/^\d+$/.test(major))) {
    throw new Error(`${option}: expected major versions, such as ${OPTION}14,18`);
  }
  const others = parameters.filter((word) => word !== option);
  const hasPath = others.some((word) => !word.startsWith("-"));
  return { majors, parameters: hasPath ? others : [...PATHS, ...others] };
}

/**
 * Runs the tests on one version after the other, each in a process of its own, and gives the exit code.
 * The versions are packages of npm, listed in `test/postgres`.
 */
export async function runVersions({ majors, parameters }: VersionsCommand): Promise<number> {
  await installPackages("test/postgres");
  for (const major of majors) {
    if (!await hasVersion(Number(major))) throw new Error(`test/postgres has no Postgres ${major}`);
  }
  const summaries: string[] = [];
  let worst = 0;
  for (const major of majors) {
    console.log(`\nOn Postgres ${major}:\n`);
    const { code, last } = await runOn(major, parameters);
    summaries.push(`Postgres ${major}: ${last}`);
    worst = Math.max(worst, code);
  }
  console.log(`\n${summaries.join("\n")}`);
  return worst;
}

function runOn(
  major: string,
  parameters: readonly string[],
): Promise<{ readonly code: number; readonly last: string }> {
  const child = spawn(process.execPath, ["task", "-q", "test", ...parameters], {
    env: { ...process.env, ROWGATE_TEST_POSTGRES: major },
    stdio: ["inherit", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    process.stdout.write(chunk);
    text = (text + chunk).slice(-1000);
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => {
      resolve({ code: code ?? 1, last: text.trimEnd().split("\n").at(-1) ?? "" });
    });
  });
}
