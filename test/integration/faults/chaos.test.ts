import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { DEADLINE_MS, runChaos } from "../../../scripts/chaos/run_chaos.ts";

/** Other seeds find other things; the long form is `deno task chaos`. */
const SEED = 20;

describe("chaos", () => {
  it(`loses nothing that was acknowledged, never hangs, and recovers soon (seed ${SEED})`, async () => {
    const reported: string[] = [];
    const result = await runChaos({
      ...{ forMs: 15_000, leastFaults: 5, seed: SEED, deadlineMs: 10 * DEADLINE_MS },
      report: (line) => reported.push(line),
    });
    const context = reported.join("\n");
    assertEquals([result.lost, result.hung], [[], 0], context);
    const unexpected = [...result.byStatus.keys()]
      .filter((status) => ![200, 201, 404, 409, 503, 504].includes(status));
    assertEquals(unexpected, [], context);
    assert(result.acknowledged > 0 && result.byStatus.has(201), context);
    // One each 50 ms, so in two seconds on a machine that is not busy with other tests.
    assert(result.recoveryQueries <= 40, `${result.recoveryQueries} queries\n${context}`);
  });
});
