import { stat } from "node:fs/promises";
import { dirname } from "node:path";
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
  "test/ship/commands",
  "test/ship/",
  "test/conformance/tokens",
  "test/conformance/service_tenancy",
  "test/unit/postgres/pool.test",
  "test/unit/request/worst_bodies",
];

/** What the command line asks for does not exist. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/**
 * Lists the test files of paths, those that take longest first. A path is a file, a folder or what files
 * begin with: `test/conformance/updates`. Throws a {@link UsageError} if there is none.
 */
export async function listTestFiles(paths: readonly string[]): Promise<string[]> {
  const files = [...new Set((await Promise.all(paths.map(findTestFiles))).flat())];
  const long = files.filter(isLong).sort((a, b) => rank(a) - rank(b));
  return [...long, ...files.filter((file) => !isLong(file))];
}

/** Reports whether a file takes so long that others should not wait for it. */
export function isLong(file: string): boolean {
  return rank(file) >= 0;
}

async function findTestFiles(path: string): Promise<string[]> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory()) return await listFiles([path], ".test.ts");
  const beside = found === undefined && path.includes("/")
    ? await listFiles([dirname(path)], ".test.ts").catch(() => [])
    : [];
  const beginning = beside.filter((file) => file.startsWith(path));
  if (found === undefined && beginning.length === 0) {
    throw new UsageError(`${path}: there is no such test file or folder`);
  }
  return beginning.length > 0 ? beginning : [path];
}

function rank(file: string): number {
  return LONG.findIndex((start) => file.startsWith(start));
}
