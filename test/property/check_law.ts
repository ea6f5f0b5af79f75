import process from "node:process";
import fc from "fast-check";
import type { IAsyncProperty } from "fast-check";

/**
 * Checks a law on random cases: `ROWGATE_TEST_SEED` repeats a run, `ROWGATE_TEST_RUNS` says how many
 * cases; the seed is printed, and a failure shows the smallest counterexample.
 */
export async function checkLaw<T>(
  law: IAsyncProperty<T>,
  { runs }: { runs: number },
): Promise<void> {
  const seed = readNumber("ROWGATE_TEST_SEED") ?? Math.floor(Math.random() * 0x7fffffff);
  const numRuns = readNumber("ROWGATE_TEST_RUNS") ?? runs;
  console.info(`    ROWGATE_TEST_SEED=${seed} ROWGATE_TEST_RUNS=${numRuns}`);
  await fc.assert(law, { seed, numRuns });
}

function readNumber(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined || text === "" ? undefined : Number(text);
}
