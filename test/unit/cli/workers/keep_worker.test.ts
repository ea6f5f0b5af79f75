import { assert, assertEquals, assertMatch } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { keepWorker } from "../../../../src/cli/workers/keep_worker.ts";
import type { Observation } from "../../../../src/server/telemetry/observe.ts";
import type { Ended } from "../../../../src/server/runtime/workers.ts";

describe("keepWorker", () => {
  const ends: readonly Ended[] = [
    { code: undefined, signal: "SIGSEGV" },
    { code: 1, signal: undefined },
    { code: undefined, signal: undefined },
  ];

  it("replaces a worker that ended, after a pause that doubles, until the service stops", async () => {
    const stopping = new AbortController();
    const warnings: string[] = [];
    const startedMs: number[] = [];
    const observe = (observation: Observation) => {
      if (observation.kind === "warning") warnings.push(observation.message);
    };
    const start = () => {
      const ended = ends[startedMs.length] ?? { code: 0, signal: undefined };
      startedMs.push(performance.now());
      if (startedMs.length > ends.length) stopping.abort();
      return { pid: 42, ended: Promise.resolve(ended), send() {}, stop() {}, kill() {} };
    };
    await keepWorker(start, { number: 3, observe, stopping: stopping.signal });
    assertEquals(warnings.length, 3);
    assertMatch(warnings[0]!, /^worker 3 \(process 42\) ended on SIGSEGV; .* in 0\.2 s$/);
    assertMatch(warnings[1]!, /ended with exit code 1; .* in 0\.4 s$/);
    assertMatch(warnings[2]!, /ended before it was started; .* in 0\.8 s$/);
    const pauses = startedMs.slice(1).map((atMs, index) => atMs - startedMs[index]!);
    for (const [index, pause] of pauses.entries()) assert(pause >= 195 * 2 ** index);
  });
});
