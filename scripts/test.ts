/**
 * Runs the tests: the files of the paths given, or all of them, and the conformance tests also against a
 * server on Node and the binary. Databases are started when a test first asks for one.
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
import { groupTestFiles, writeGroups } from "./group_test_files.ts";
import { listTestFiles, UsageError } from "./list_test_files.ts";
import { listPrograms, makePrograms } from "./make_programs.ts";
import { offerDatabases, type OfferedDatabases } from "./offer_databases.ts";
import { runAccesses } from "./run_accesses.ts";
import { runTests, type Tally } from "./run_tests.ts";
import { readVersions, runVersions } from "./run_versions.ts";

/** What `--access` runs when no path is given. */
const ACCESS_PATHS = ["test/conformance", "test/integration/records", "test/property"];

/**
 * What the conformance tests are run against, besides Deno, which serves them in the tests' own process.
 * The binary of the tests is compiled by Bun, so it stands for Bun as well.
 */
const SERVED: readonly Runtime[] = ["node", "binary"];

/** What the command line asks for. */
interface Command {
  readonly paths: readonly string[];
  /** Passed on to `deno test`. */
  readonly flags: readonly string[];
  /** What the titles of the tests that run contain, or a pattern between slashes. */
  readonly filter: string | undefined;
  readonly runtime: Runtime | undefined;
  readonly access: Access | undefined;
}

/** What is there for the tests. */
interface Offered {
  readonly databases: OfferedDatabases;
  readonly accesses: readonly Access[];
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
let tally: Tally | undefined;
try {
  tally = await run(readCommand(process.argv.slice(2)));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  console.error(error.message);
} finally {
  await rm(folder, { recursive: true, force: true });
}
if (stopping.signal.aborted) process.exit(130);
if (tally === undefined) process.exit(2);
// The failures again: the end of a long run is what is seen of it.
for (const { name, reason } of tally.failures) {
  console.log(`failed: ${name}\n${reason.replace(/^/gm, "  ")}\n`);
}
const skipped = tally.skipped === 0 ? "" : `, ${tally.skipped} skipped`;
console.log(`${tally.passed} passed, ${tally.failed} failed${skipped}`);
process.exit(tally.failed === 0 && tally.passed > 0 ? 0 : 1);

function readCommand(parameters: string[]): Command {
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
    throw new UsageError(`--runtime=${runtime}: expected one of ${RUNTIMES.join(", ")}, binary`);
  }
  const others = ACCESSES.slice(1);
  if (access !== undefined && !others.some((each) => each === access)) {
    throw new UsageError(`--access=${access}: expected one of ${others.join(", ")}`);
  }
  const own = new Set(["runtime", "access", "std", "filter"]);
  const flags = tokens.filter((token) => token.kind === "option" && !own.has(token.name));
  return {
    paths: positionals.length > 0
      ? positionals.map((path) => relative(".", path))
      : access === undefined
      ? ["test"]
      : ACCESS_PATHS,
    flags: flags.map(({ index }) => parameters[index]!),
    filter,
    runtime,
    access: access as Access | undefined,
  };
}

async function run(command: Command): Promise<Tally> {
  const { paths, access, runtime } = command;
  const programs = makePrograms(listPrograms(paths, runtime));
  // Of a whole run, those tests begin that need no program.
  if (isWhole(command)) programs.catch(() => stopping.abort());
  const [{ words }] = await Promise.all([
    chooseStd(process.argv.slice(2)),
    isWhole(command) ? undefined : programs,
  ]);
  const accesses: readonly Access[] = access === undefined ? [] : ["plain", access];
  const databases = await offerDatabases({ folder, accesses });
  try {
    if (isWhole(command)) databases.start();
    const tally = await runFiles(command, { databases, accesses, words });
    await programs;
    return tally;
  } finally {
    await databases.stop();
  }
}

function isWhole({ paths, access, runtime }: Command): boolean {
  return paths.join() === "test" && access === undefined && runtime === undefined;
}

async function runFiles(
  command: Command,
  { databases, accesses, words }: Offered,
): Promise<Tally> {
  const { paths, flags, filter, runtime } = command;
  const environment = {
    ...databases.variables,
    ...(filter === undefined ? {} : { ROWGATE_TEST_FILTER: filter }),
    ...(runtime === undefined ? {} : { ROWGATE_TEST_RUNTIME: runtime }),
  };
  const options = { folder, environment, words, signal: stopping.signal };
  if (accesses.length > 0) {
    return await runAccesses([...await listTestFiles(paths), ...flags], { ...options, accesses });
  }
  // A watcher is to notice new files as well.
  const isWatching = flags.some((flag) => /^--watch\b/.test(flag));
  const files = isWatching ? paths : await listGroups(command);
  return await runTests([...files, ...flags], { ...options, label: runtime ?? "in process" });
}

async function listGroups(command: Command): Promise<readonly string[]> {
  const files = await listTestFiles(command.paths);
  const groups = isWhole(command)
    ? await groupTestFiles(files, SERVED)
    // Their programs are made.
    : (await groupTestFiles(files)).map(({ files }) => ({ files, programs: [] }));
  return await writeGroups(groups, folder);
}
