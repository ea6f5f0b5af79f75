import fc from "fast-check";
import type { IAsyncProperty } from "fast-check";
import { readRuns, readSeed } from "../support/seed.ts";

/**
 * Checks a law on random cases: `ROWGATE_TEST_SEED` repeats a run, `ROWGATE_TEST_RUNS` says how many
 * cases; the seed is printed, and a failure shows the smallest counterexample.
 */
export async function checkLaw<T>(
  law: IAsyncProperty<T>,
  { runs }: { runs: number },
): Promise<void> {
  const seed = readSeed();
  const numRuns = readRuns(runs);
  console.info(`    ROWGATE_TEST_SEED=${seed} ROWGATE_TEST_RUNS=${numRuns}`);
  await fc.assert(law, { seed, numRuns });
}
