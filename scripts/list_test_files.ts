import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
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
  "test/conformance/tokens",
  "test/conformance/service_tenancy",
  "test/unit/request/worst_bodies",
];

/**
 * Lists the test files of paths, each a file or a folder, in the order in which they should start: those
 * that wait are spread among those that work, so that the processors are never idle or besieged.
 */
export async function listTestFiles(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async (path) => {
    const isFolder = await stat(path).then((found) => found.isDirectory(), () => false);
    return isFolder ? await listFiles([path], ".test.ts") : [path];
  }));
  const files = [...new Set(found.flat())];
  const short = files.filter((file) => rank(file) < 0);
  const long = files.filter((file) => rank(file) >= 0).sort((a, b) => rank(a) - rank(b));
  const between = Math.floor(short.length / Math.max(1, long.length));
  return long.flatMap((file) => [file, ...short.splice(0, between)]).concat(short);
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
