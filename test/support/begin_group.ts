import { awaitProgram } from "./shared_databases.ts";
import type { Runtime } from "./runtime_server.ts";
import { serveOn } from "./serving_runtime.ts";

/** What a group of test files needs. */
export interface GroupNeeds {
  /** What its tests run besides Deno. */
  readonly programs: readonly string[];
  /** What serves; undefined: the process of the tests. */
  readonly runtime?: Runtime | undefined;
}

/** Prepares what a group of test files needs; only then are they imported. */
export async function beginGroup({ programs, runtime }: GroupNeeds): Promise<void> {
  if (runtime !== undefined) serveOn(runtime);
  await Promise.all(programs.map(awaitProgram));
}
