import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { checkSoak } from "../../../scripts/soak/check_soak.ts";
import { runSoak } from "../../../scripts/soak/run_soak.ts";
import { RUNTIMES } from "../../support/runtime_server.ts";
import { createTestService } from "../../support/service.ts";

/** Of full load; what grows with each request has grown by then. `deno task soak` is the long form. */
const SECONDS = 3;
/** Loose: seconds do not warm up, and the pool still fills. Growth with each request is found. */
const SHORT = { memory: 0.3, memoryMiB: 40, descriptors: 10 };

for (const runtime of RUNTIMES) {
  describe(`mixed load on ${runtime}`, () => {
    it("is served, and leaves no descriptor, connection or session behind [RE12]", async () => {
      const environment = { ROWGATE_POOL_SIZE: "10" };
      const service = await createTestService("real", { runtime, environment });
      try {
        const seed = Math.floor(Math.random() * 1e6);
        const run = await runSoak(service, { seconds: SECONDS, seed });
        assertEquals(checkSoak(run, SHORT), [], `seed ${seed}`);
      } finally {
        await service.close();
      }
    });
  });
}
