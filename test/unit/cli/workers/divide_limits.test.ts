import { assertEquals } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { divideLimits } from "../../../../src/cli/workers/divide_limits.ts";
import { readConfig } from "../../../../src/config/config.ts";

describe("the limits of a service with several workers", () => {
  const divide = (environment: Record<string, string>, workers: number) =>
    Array.from({ length: workers }, (_, index) => {
      const { config } = readConfig(environment);
      return divideLimits(config!, { worker: index + 1, workers });
    });

  it("are made up by its workers' parts", () => {
    const environment = {
      ROWGATE_POOL_SIZE: "10",
      ROWGATE_MAX_IN_FLIGHT: "1000",
      ROWGATE_MAX_BODIES_BYTES: "3000000",
      ROWGATE_MAX_UNSENT_BYTES: "6000000",
      ROWGATE_RATE_LIMIT: "600/min",
    };
    const parts = divide(environment, 3);
    assertEquals(parts.map(({ poolSize }) => poolSize), [4, 3, 3]);
    assertEquals(parts.map(({ maxInFlight }) => maxInFlight), [334, 333, 333]);
    assertEquals(parts.map(({ maxUnsentBytes }) => maxUnsentBytes), Array(3).fill(2_000_000));
    assertEquals(parts.map(({ maxBodiesBytes }) => maxBodiesBytes), Array(3).fill(1_000_000));
    const limit = { requests: 200, windowSeconds: 60 };
    assertEquals(parts.map(({ rateLimit }) => rateLimit), [limit, limit, limit]);
  });

  it("leave each worker one at least, and what is not limited unlimited", () => {
    const parts = divide({ ROWGATE_POOL_SIZE: "1" }, 2);
    assertEquals(parts.map(({ poolSize, rateLimit }) => [poolSize, rateLimit]), [
      [1, undefined],
      [1, undefined],
    ]);
  });
});
