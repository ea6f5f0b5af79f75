import { assert, assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { DEADLINE_MS, runChaos } from "../../../scripts/chaos/run_chaos.ts";

/** Another one finds other things; the long form is `deno task chaos`. */
const SEED = 20;

describe("chaos", () => {
  it(`loses nothing that was acknowledged, hangs never, and is soon well again (seed ${SEED})`, async () => {
    const told: string[] = [];
    const figures = await runChaos({
      ...{ forMs: 15_000, seed: SEED },
      tell: (line) => told.push(line),
    });
    const context = told.join("\n");
    assertEquals([figures.lost, figures.hung], [[], 0], context);
    const unexpected = [...figures.byStatus.keys()]
      .filter((status) => ![200, 404, 409, 503, 504].includes(status));
    assertEquals(unexpected, [], context);
    assert(figures.acknowledged > 0 && figures.faults > 3, context);
    assert(figures.worstMs < DEADLINE_MS, context);
    // Two seconds on a machine that is not busy with other tests.
    assert(figures.recoveryMs < 4000, context);
  });
});
