import { stat } from "node:fs/promises";
import { listFiles } from "./list_files.ts";

/**
 * Start first, in this order: they take longest, and most of that they wait, for timeouts, for
 * processes or for what the catalogue notices by itself, while others use the processor.
 */
const LONGEST = [
  "test/conformance/tables_following",
  "test/runtime/",
  "test/ship/",
  "test/conformance/tables_retyped",
  "test/integration/faults/",
  "test/integration/load/",
  "test/console/",
  "test/client/types",
  "test/docs/typescript",
  "test/property/",
  "test/integration/",
  "test/conformance/tokens",
  "test/conformance/service_tenancy",
  "test/unit/request/worst_bodies",
];

/** Lists the test files of paths, each a file or a folder, in the order in which they should start. */
export async function listTestFiles(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(async (path) => {
    const isFolder = await stat(path).then((found) => found.isDirectory(), () => false);
    return isFolder ? await listFiles([path], ".test.ts") : [path];
  }));
  const files = [...new Set(found.flat())];
  return files.map((file) => ({ file, rank: rank(file) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ file }) => file);
}

function rank(file: string): number {
  const at = LONGEST.findIndex((start) => file.startsWith(start));
  return at < 0 ? LONGEST.length : at;
}
