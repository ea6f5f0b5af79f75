import { stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { listFiles } from "./list_files.ts";

/**
 * Files that take longest, longest first. All but the last wait more than they work: for timeouts, for
 * processes, for what the catalogue notices by itself.
 */
const LONG = [
  "test/conformance/tables_following",
  "test/runtime/load/slow_readers",
  "test/conformance/tables_retyped",
  "test/runtime/load/",
  "test/integration/faults/",
  "test/integration/load/",
  "test/runtime/",
  "test/ship/commands",
  "test/console/",
  "test/ship/",
  "test/conformance/tokens",
  "test/conformance/service_tenancy",
  "test/unit/request/worst_bodies",
];

/**
 * Lists the test files of paths in the order in which they should start: those that wait are spread among
 * those that work. A path is a file, a folder or what files begin with: `test/conformance/updates`.
 */
export async function listTestFiles(paths: readonly string[]): Promise<string[]> {
  const files = [...new Set((await Promise.all(paths.map(findTestFiles))).flat())];
  const short = files.filter((file) => rank(file) < 0);
  const long = files.filter((file) => rank(file) >= 0).sort((a, b) => rank(a) - rank(b));
  const between = Math.floor(short.length / Math.max(1, long.length));
  return long.flatMap((file) => [file, ...short.splice(0, between)]).concat(short);
}

async function findTestFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return await listFiles([path], ".test.ts");
  const beside = found === undefined && path.includes("/")
    ? await listFiles([dirname(path)], ".test.ts").catch(() => [])
    : [];
  const beginning = beside.filter((file) => file.startsWith(path));
  // Deno says best that there is no such file.
  return beginning.length > 0 ? beginning : [path];
}

function rank(file: string): number {
  return LONG.findIndex((start) => file.startsWith(start));
}

/** Enough to keep all processors busy to the end. */
const GROUPS = 12;

/**
 * Makes a few files that import all of these, and lists them: half of what a file of the conformance
 * tests costs is to load what it imports, which happens once for each file that Deno is given.
 */
export async function groupTestFiles(files: readonly string[], folder: string): Promise<string[]> {
  const groups = Array.from({ length: Math.min(GROUPS, files.length) }, (_, index) => ({
    path: join(folder, `group_${index + 1}.test.ts`),
    files: files.filter((_, at) => at % GROUPS === index),
  }));
  for (const { path, files } of groups) {
    const imports = files.map((file) => `import "${pathToFileURL(file)}";\n`);
    await writeFile(path, imports.join(""));
  }
  return groups.map(({ path }) => path);
}
