import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import type { Access } from "../test/support/access.ts";
import { compareResponses, isExcepted } from "./compare_responses.ts";
import { addTallies, runTests, type Tally } from "./run_tests.ts";

/** What the runs for each access share. */
export interface AccessOptions {
  /** The first is what the others are compared with. */
  readonly accesses: readonly Access[];
  readonly environment: Readonly<Record<string, string>>;
  readonly folder: string;
  /** Further words for `deno test`. */
  readonly words: readonly string[];
  /** Ends the run. */
  readonly signal: AbortSignal;
}

/** Makes generated cases the same in each run. */
const SEED = String(Math.floor(Math.random() * 0x7fffffff));

/** Runs the tests once for each access; a response that differs from that of the first is a failure. */
export async function runAccesses(
  parameters: readonly string[],
  { accesses, ...options }: AccessOptions,
): Promise<Tally> {
  const tallies: Tally[] = [];
  let first: string | undefined;
  for (const access of accesses) {
    if (options.signal.aborted) break;
    console.log(`\nWith the access called ${access}:\n`);
    const responses = await mkdtemp(join(options.folder, `responses-${access}-`));
    const variables = {
      ROWGATE_TEST_ACCESS: access,
      ROWGATE_TEST_RECORD: responses,
      ROWGATE_TEST_SEED: SEED,
    };
    const environment = { ...options.environment, ...variables };
    const tally = await runTests(parameters, { ...options, environment, label: access });
    tallies.push(withoutExcepted(tally, `${access}: `));
    if (first === undefined) first = responses;
    else tallies.push(await compare(first, responses, access));
  }
  return addTallies(tallies);
}

function withoutExcepted(tally: Tally, label: string): Tally {
  const failures = tally.failures.filter(({ name }) => !isExcepted(name.slice(label.length)));
  return { ...tally, failures, failed: failures.length };
}

async function compare(first: string, responses: string, access: Access): Promise<Tally> {
  const { compared, differences } = await compareResponses(first, responses);
  const failures = differences.map((difference) => ({
    name: `${access}: ${difference}`,
    reason: "",
  }));
  console.log(`${access}: ${compared} responses compared, ${differences.length} differ`);
  const passed = compared - differences.length;
  return { passed, failed: failures.length, skipped: 0, failures };
}
