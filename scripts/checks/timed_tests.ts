import { readFile } from "node:fs/promises";
import { lineAt, readSource } from "./source.ts";

/** Why a file of the tests may read the time, and how often it does. */
interface Reason {
  readonly reads: number;
  readonly why: string;
}

const AT_LEAST = "shows that something waited: a busy machine only waits longer";
const RATE = "a rate: what is allowed grows with the time that has passed";
const LENGTH = "says how long a history or a load lasts, and compares nothing";
const CLOCK = "is the clock of what is tested, or a time of the day";
const HELPER = "is the one end of all waits, or the clock that a test moves";

/** All that may. A promise about time is counted, or tested under a clock that the test moves. */
export const TIMED: Readonly<Record<string, Reason>> = {
  "test/client/client.test.ts": { reads: 2, why: AT_LEAST },
  "test/client/live.test.ts": { reads: 1, why: CLOCK },
  "test/client/poller.test.ts": { reads: 2, why: LENGTH },
  "test/integration/changes/cursors.test.ts": { reads: 1, why: CLOCK },
  "test/integration/changes/watch.test.ts": { reads: 4, why: AT_LEAST },
  "test/integration/rate_limit/instances.test.ts": { reads: 5, why: RATE },
  "test/integration/records/recorder.ts": { reads: 4, why: "orders the events of a history" },
  "test/integration/records/write_recorder.ts": { reads: 2, why: "orders the events of a history" },
  "test/integration/replicas/law.test.ts": { reads: 2, why: LENGTH },
  "test/integration/replicas/snapshots.test.ts": { reads: 2, why: LENGTH },
  "test/integration/webhooks/deliveries.test.ts": { reads: 1, why: CLOCK },
  "test/integration/webhooks/signature.test.ts": { reads: 2, why: CLOCK },
  "test/property/every_node.test.ts": { reads: 2, why: "prints how long it took" },
  "test/runtime/clock.test.ts": { reads: 2, why: AT_LEAST },
  "test/runtime/load/read_only.test.ts": { reads: 2, why: AT_LEAST },
  "test/runtime/load/remote_failure.test.ts": { reads: 2, why: RATE },
  "test/runtime/load/slow_readers.test.ts": { reads: 2, why: LENGTH },
  "test/runtime/stop.test.ts": { reads: 2, why: AT_LEAST },
  "test/runtime/workers.test.ts": { reads: 2, why: RATE },
  "test/runtime/jumping_clock.js": { reads: 1, why: CLOCK },
  "test/support/certificate.ts": { reads: 1, why: CLOCK },
  "test/support/moved_clock.ts": { reads: 1, why: HELPER },
  "test/support/raw_client.ts": { reads: 3, why: "ends a read that gets nothing more" },
  "test/support/receiver.ts": { reads: 1, why: CLOCK },
  "test/support/record_responses.ts": { reads: 2, why: CLOCK },
  "test/support/wait_until.ts": { reads: 2, why: HELPER },
  "test/unit/cli/progress.test.ts": { reads: 2, why: LENGTH },
  "test/unit/cli/workers/keep_worker.test.ts": { reads: 1, why: AT_LEAST },
  "test/unit/http/shared_buckets.test.ts": { reads: 1, why: CLOCK },
  "test/unit/postgres/pool.test.ts": { reads: 1, why: CLOCK },
  "test/unit/runtime/timers.test.ts": { reads: 4, why: AT_LEAST },
};

const READ = /\b(?:performance|Date)\.now\(|\bnew Date\(\)|\bprocess\.hrtime\b/g;

/** Finds where a file of the tests reads the time and may not, since a test that is timed fails by chance. */
export async function findTimedTests(file: string, allowed = TIMED): Promise<string[]> {
  if (!file.startsWith("test/")) return [];
  const text = await readFile(file, "utf8");
  const reads = [...readSource(text).code.matchAll(READ)];
  const expected = allowed[file]?.reads ?? 0;
  if (reads.length === expected) return [];
  const where = reads.map(({ index }) => lineAt(text, index)).join(", ");
  return [
    `${file}: reads the time ${reads.length} times (lines ${where}), expected ${expected}. ` +
    "No test is timed: count, use waitSoon or a clock that the test moves, " +
    "or say in scripts/checks/timed_tests.ts why it may",
  ];
}
