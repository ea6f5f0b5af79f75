/**
 * Runs the tests: the files of the paths given, or all of them, and then the conformance tests against
 * a server on Node and the binary. Databases are started when a test first asks for one.
 *
 *     deno task test test/unit --filter tenant   # the tests whose titles say so
 *     deno task test test/unit --watch           # other flags go to `deno test`
 *     deno task test test/conformance --runtime=node   # or deno, bun, binary: against a server on it
 *     deno task test --access=rls                # or least: twice, and compares the responses
 *     deno task test --postgres=14,18            # the conformance tests, on each of these versions
 *     deno task test --std=stand-ins             # or jsr: where `@std` comes from
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { type Access, ACCESSES } from "../test/support/access.ts";
import { isRuntime, type Runtime, RUNTIMES } from "../test/support/runtime_server.ts";
import { chooseStd } from "./choose_std.ts";
import { groupTestFiles, listTestFiles } from "./list_test_files.ts";
import { makePrograms } from "./make_programs.ts";
import { offerDatabases, type OfferedDatabases } from "./offer_databases.ts";
import { runAccesses } from "./run_accesses.ts";
import { addTallies, runTests, type Tally } from "./run_tests.ts";
import { readVersions, runVersions } from "./run_versions.ts";

/** What `--access` runs when no path is given. */
const ACCESS_PATHS = ["test/conformance", "test/integration/records", "test/property"];

/**
 * What the conformance tests are run against, side by side: one uses the processors while the last files
 * of the other wait. The binary of the tests is compiled by Bun, so it stands for Bun as well; Deno has
 * served them in the tests' own process.
 */
const SERVED: readonly Runtime[] = ["node", "binary"];
/** Files side by side of each of them. */
const SERVED_JOBS = 3;

/** What the command line asks for. */
interface Command {
  /** Empty: all tests. */
  readonly paths: readonly string[];
  /** Passed on to `deno test`. */
  readonly flags: readonly string[];
  /** What the titles of the tests that run contain, or a pattern between slashes. */
  readonly filter: string | undefined;
  readonly runtime: Runtime | undefined;
  readonly access: Access | undefined;
  /** Further words for `deno test`, which say where `@std` comes from. */
  readonly words: readonly string[];
}

const versions = readVersions(process.argv.slice(2));
if (versions !== undefined) process.exit(await runVersions(versions));

const folder = await mkdtemp(join(tmpdir(), "rowgate-test-"));
// The tests end first, then what was started for them; only then does this process.
const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => stopping.abort());
}
let tally: Tally;
try {
  tally = await run(await readCommand(process.argv.slice(2)));
} finally {
  await rm(folder, { recursive: true, force: true });
}
if (stopping.signal.aborted) process.exit(130);
// The failures again: the end of a long run is what is seen of it.
for (const { name, reason } of tally.failures) {
  console.log(`failed: ${name}\n${reason.replace(/^/gm, "  ")}\n`);
}
const skipped = tally.skipped === 0 ? "" : `, ${tally.skipped} skipped`;
console.log(`${tally.passed} passed, ${tally.failed} failed${skipped}`);
process.exit(tally.failed === 0 && tally.passed > 0 ? 0 : 1);

async function readCommand(parameters: string[]): Promise<Command> {
  const text = { type: "string" } as const;
  const { values, positionals, tokens } = parseArgs({
    args: parameters,
    options: { runtime: text, access: text, std: text, filter: text },
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const { runtime, access, filter } = values as Record<string, string | undefined>;
  if (runtime !== undefined && !isRuntime(runtime)) {
    throw new Error(`--runtime=${runtime}: expected one of ${RUNTIMES.join(", ")}, binary`);
  }
  const others = ACCESSES.slice(1);
  if (access !== undefined && !others.some((each) => each === access)) {
    throw new Error(`--access=${access}: expected one of ${others.join(", ")}`);
  }
  const own = new Set(["runtime", "access", "std", "filter"]);
  const flags = tokens.filter((token) => token.kind === "option" && !own.has(token.name));
  return {
    paths: positionals.map((path) => relative(".", path)),
    flags: flags.map(({ index }) => parameters[index]!),
    filter,
    runtime,
    access: access as Access | undefined,
    ...await chooseStd(parameters),
  };
}

async function run(command: Command): Promise<Tally> {
  const { access, runtime } = command;
  const isWhole = command.paths.length === 0 && access === undefined && runtime === undefined;
  const paths = command.paths.length > 0
    ? command.paths
    : access === undefined
    ? ["test"]
    : ACCESS_PATHS;
  await makePrograms(paths, runtime);
  const accesses: readonly Access[] = access === undefined ? [] : ["plain", access];
  const databases = await offerDatabases({ folder, accesses });
  try {
    if (isWhole) databases.start();
    // A watcher is to notice new files as well.
    const isWatching = command.flags.some((flag) => /^--watch\b/.test(flag));
    const files = isWatching ? paths : await listTestFiles(paths);
    return await runFiles(files, { command, databases, accesses, isWhole });
  } finally {
    await databases.stop();
  }
}

async function runFiles(
  files: readonly string[],
  { command, databases, accesses, isWhole }: {
    readonly command: Command;
    readonly databases: OfferedDatabases;
    readonly accesses: readonly Access[];
    readonly isWhole: boolean;
  },
): Promise<Tally> {
  const { flags, filter, words } = command;
  const environment = {
    ...databases.variables,
    ...(filter === undefined ? {} : { ROWGATE_TEST_FILTER: filter }),
  };
  const options = { folder, environment, words, signal: stopping.signal };
  if (accesses.length > 0) return await runAccesses([...files, ...flags], { ...options, accesses });
  const ask = (files: readonly string[], runtime: Runtime | undefined) =>
    runTests([...files, ...flags], {
      ...options,
      environment: runtime === undefined
        ? environment
        : { ...environment, ROWGATE_TEST_RUNTIME: runtime },
      label: runtime ?? "in process",
      jobs: isWhole && runtime !== undefined ? SERVED_JOBS : undefined,
    });
  if (!isWhole) return await ask(files, command.runtime);
  const conformance = await groupTestFiles(files.filter(isConformance), folder);
  const others = files.filter((file) => !isConformance(file));
  // Groups work more than they wait: they are spread among the others.
  const share = Math.ceil(others.length / conformance.length);
  const all = conformance.flatMap((group, at) => [
    group,
    ...others.slice(at * share, (at + 1) * share),
  ]);
  const tallies = [await ask(all, undefined)];
  if (!stopping.signal.aborted) {
    console.log("\nThe conformance tests against a server on Node and the binary:\n");
    tallies.push(...await Promise.all(SERVED.map((runtime) => ask(conformance, runtime))));
  }
  return addTallies(tallies);
}

function isConformance(file: string): boolean {
  return file.startsWith("test/conformance/");
}
