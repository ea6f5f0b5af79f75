import { appendFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** A line of a worker's file: a test or a hook has begun, or ended. */
export interface Progress {
  readonly kind: "began" | "ended";
  /** The test file. */
  readonly file: string;
  /** The title of the test, or of the group of a hook. */
  readonly title: string;
  readonly isTest: boolean;
  /** Why it failed. */
  readonly failed?: string | undefined;
}

/** The runner sets it; without it nothing is written. */
const FOLDER = process.env.ROWGATE_TEST_PROGRESS;
const PATH = join(FOLDER ?? "", `${crypto.randomUUID()}.ndjson`);

/**
 * Writes what this worker runs to a file of its own, so that the runner can name what hangs even when
 * the worker no longer responds.
 */
export function reportProgress(progress: Progress): void {
  if (FOLDER === undefined) return;
  try {
    appendFileSync(PATH, `${JSON.stringify(progress)}\n`);
  } catch {
    // The run has ended, and its folder with it.
  }
}
