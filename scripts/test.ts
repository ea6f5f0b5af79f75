/**
 * Runs the tests: starts one throw-away Postgres, makes the databases that every test file clones,
 * runs the files side by side, then the conformance list against a server on each runtime, and stops
 * it all. Paths and flags are passed on: `deno task test test/unit --filter tenant`;
 * `--runtime=node` asks a server on Node instead of the handler in process, `--runtime=binary` the
 * compiled one; `--access=rls` or `--access=least` runs them twice, with the rights of every day and
 * with those, and compares the answers; `--std=stand-ins` or `--std=jsr` says where `@std` comes from.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { type Cluster, startCluster } from "../test/support/cluster.ts";
import { hasInstalledPostgres } from "../test/support/postgres_binaries.ts";
import { isRuntime, RUNTIMES } from "../test/support/runtime_server.ts";
import { makeEmbeddedTemplate, makeTemplates } from "../test/support/templates.ts";
import { type Access, ACCESSES } from "../test/support/access.ts";
import { chooseStd } from "./choose_std.ts";
import { runAccesses } from "./run_accesses.ts";
import { installPackages, makeBinary, makeBundle, makeTypes } from "./install_packages.ts";
import { addTallies, runTests, type Tally } from "./run_tests.ts";

/** What `--access` runs when no path is named. */
const ACCESS_PATHS = ["test/conformance/", "test/integration/records/", "test/property/"];

/** Run only when they are named or all is run: they start processes. */
const RUNTIME_FOLDER = "test/runtime";
/** What is shipped: needs the types besides. */
const SHIP_FOLDER = "test/ship";
/** Needs Playwright. */
const BROWSER_FOLDER = "test/console";

/** These need neither a database nor a server. */
const BARE_FOLDERS = ["test/unit", "test/checks"];

const parameters = process.argv.slice(2);
const tally = await run(parameters);
// What ends a long run's output says what was wrong, for those who see its end alone.
for (const { name, reason } of tally.failures) {
  console.log(`failed: ${name}\n${reason.replace(/^/gm, "  ")}\n`);
}
const skipped = tally.skipped === 0 ? "" : `, ${tally.skipped} skipped`;
console.log(`${tally.passed} passed, ${tally.failed} failed${skipped}`);
process.exit(tally.failed === 0 && tally.passed > 0 ? 0 : 1);

async function run(parameters: readonly string[]): Promise<Tally> {
  const paths = parameters.filter((parameter) => !parameter.startsWith("--"));
  const chosen = readRuntime(parameters);
  const access = readAccess(parameters);
  const rest = parameters.filter((parameter) => !/^--(runtime|access|std)=/.test(parameter));
  const { words } = await chooseStd(parameters);
  const isWhole = paths.length === 0 && chosen === undefined && access === undefined;
  const ships = isWhole || paths.some((path) => path.startsWith(SHIP_FOLDER));
  const needsRuntimes = ships || chosen !== undefined ||
    paths.some((path) => path.startsWith(RUNTIME_FOLDER));
  if (needsRuntimes) await makeBundle();
  if (needsRuntimes) await makeBinary();
  if (ships) await makeTypes();
  const needsBrowser = paths.some((path) => path.startsWith(BROWSER_FOLDER));
  const needsPostgres = paths.length === 0 ||
    !paths.every((path) => BARE_FOLDERS.some((folder) => path.startsWith(folder)));
  if (needsRuntimes || needsBrowser || needsPostgres && !await hasInstalledPostgres()) {
    await installPackages("test/packages");
  }
  if (!needsPostgres) return await runBare(rest, words);

  const cluster = await startCluster();
  try {
    const accesses = access === undefined ? [] : ["plain", access] as const;
    const environment = await prepare(cluster, accesses);
    const ask = (given: readonly string[], runtime?: string) =>
      runTests(given, {
        folder: cluster.folder,
        environment: runtime === undefined
          ? environment
          : { ...environment, ROWGATE_TEST_RUNTIME: runtime },
        label: runtime ?? "in process",
        words,
        // Those that ask a server of their own wait for it, and leave a processor room.
        jobs: runtime === undefined ? undefined : 4,
      });
    if (access !== undefined) {
      const given = paths.length === 0 ? [...ACCESS_PATHS, ...rest] : rest;
      return await runAccesses(given, { accesses, folder: cluster.folder, environment, words });
    }
    const tallies = [await ask(paths.length === 0 ? ["test/", ...rest] : rest, chosen)];
    for (const runtime of isWhole ? [...RUNTIMES, "binary"] : []) {
      console.log(`\nThe conformance list against a server on ${runtime}:\n`);
      tallies.push(await ask(["test/conformance/", ...rest], runtime));
    }
    return addTallies(tallies);
  } finally {
    await cluster.stop();
  }
}

async function runBare(parameters: readonly string[], words: readonly string[]): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), "rowgate-test-"));
  try {
    return await runTests(parameters, { folder, environment: {}, label: "in process", words });
  } finally {
    await rm(folder, { recursive: true });
  }
}

function readRuntime(parameters: readonly string[]): string | undefined {
  const text = parameters.find((parameter) => parameter.startsWith("--runtime="))?.slice(10);
  if (text === undefined || isRuntime(text)) return text;
  throw new Error(`--runtime=${text}: expected one of ${RUNTIMES.join(", ")}, binary`);
}

function readAccess(parameters: readonly string[]): Access | undefined {
  const text = parameters.find((parameter) => parameter.startsWith("--access="))?.slice(9);
  if (text === undefined) return undefined;
  const access = ACCESSES.slice(1).find((access) => access === text);
  if (access !== undefined) return access;
  throw new Error(`--access=${text}: expected one of ${ACCESSES.slice(1).join(", ")}`);
}

async function prepare(
  cluster: Cluster,
  accesses: readonly Access[],
): Promise<Record<string, string>> {
  const embedded = join(cluster.folder, "fixture.tar");
  await Promise.all([makeTemplates(cluster.url, accesses), makeEmbeddedTemplate(embedded)]);
  return { ROWGATE_TEST_CLUSTER: cluster.url, ROWGATE_TEST_EMBEDDED: embedded };
}
