import process from "node:process";

/** `ROWGATE_TEST_SEED`, or a seed of its own; printed, so that a run can be repeated. */
export function readSeed(): number {
  return readNumber("ROWGATE_TEST_SEED") ?? Math.floor(Math.random() * 0x7fffffff);
}

/** `ROWGATE_TEST_RUNS`, or as many as said: the long form of a generated test. */
export function readRuns(runs: number): number {
  return readNumber("ROWGATE_TEST_RUNS") ?? runs;
}

function readNumber(name: string): number | undefined {
  const text = process.env[name];
  return text === undefined || text === "" ? undefined : Number(text);
}
